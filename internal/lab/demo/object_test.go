package demo

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func itoa(i int) string { return strconv.Itoa(i) }

func TestAnObjectFollowsFromItsTarget(t *testing.T) {
	if a, b := objectOf([]byte("/object/1")), objectOf([]byte("/object/1")); a != b {
		t.Errorf("the same target gave %v and %v, want one object", a, b)
	}
	if a, b := objectOf([]byte("/object/1")), objectOf([]byte("/object/1?")); a.etag() == b.etag() {
		t.Errorf("two targets have the ETag %s, want one each", a.etag())
	}
}

func TestSizesAreLognormal(t *testing.T) {
	const n = 20_000
	logs := make([]float64, n)
	var sum, squares float64
	for i := range logs {
		o := objectOf([]byte("/object/" + itoa(i)))
		if o.bytes < minObjectBytes || o.bytes > MaxObjectBytes {
			t.Fatalf("object %d has %d bytes, want %d to %d", i, o.bytes, minObjectBytes, MaxObjectBytes)
		}
		logs[i] = math.Log(float64(o.bytes))
		sum += logs[i]
		squares += logs[i] * logs[i]
	}
	slices.Sort(logs)
	// Five standard errors: of the median 1.25 sigma/sqrt(n), of sigma
	// sigma/sqrt(2n). The bounds on sizes cut off less than one in ten thousand.
	if got, want := logs[n/2], math.Log(medianObjectBytes); math.Abs(got-want) > 5*1.25*sigmaOfSize/math.Sqrt(n) {
		t.Errorf("the median is %.0f bytes, want about %d", math.Exp(got), medianObjectBytes)
	}
	mean := sum / n
	if got := math.Sqrt(squares/n - mean*mean); math.Abs(got-sigmaOfSize) > 5*sigmaOfSize/math.Sqrt(2*n) {
		t.Errorf("the logarithms of the sizes have a deviation of %.3f, want about %v", got, sigmaOfSize)
	}
}
