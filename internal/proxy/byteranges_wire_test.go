package proxy_test

import (
	"math"
	"net/http"
	"runtime"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Several ranges cost what frames them, however long they are: nothing of the
// stored body is copied. The connection goes on, answer after answer.
func TestSeveralRangesOfALargeBodyAreNotCopied(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	const hits, rounds, mostBytes, mostAllocs = 70, 3, 4 << 10, 12
	e := start(t, "", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1000000", "Range: bytes=500000-999999,0-299999,400000-400000\r\n"))
	if least := 800001; c.body < least || c.body > least+1024 {
		t.Fatalf("got a body of %d bytes, want %d and what frames them", c.body, least)
	}
	if got := allocsPerHit(t, c); got > mostAllocs {
		t.Errorf("got %.1f allocations an answer, want at most %d", got, mostAllocs)
	}
	least := uint64(math.MaxUint64) // the least of some rounds: what a timer or a collection adds is not in each
	for range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range hits {
			if err := c.ask(); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/hits)
	}
	if least > mostBytes {
		t.Errorf("got %d bytes allocated an answer, want at most %d", least, mostBytes)
	} else {
		t.Logf("%d bytes allocated an answer", least)
	}
}
