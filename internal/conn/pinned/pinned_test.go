package pinned

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestBody holds the counts to what they stand for, over random turns.
func TestBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		total := NewTotal(1 << 40)
		b, bytes := total.Body(), int64(random.IntN(1000)+1)
		places, answers, ever := 0, 0, false
		for range 50 {
			switch n := random.IntN(4); {
			case n == 0:
				b.Land(bytes)
				places, ever = places+1, true
			case n == 1 && places > 0:
				b.Leave()
				places--
			case n == 2:
				b.Hold()
				answers++
			case n == 3 && answers > 0:
				b.Release()
				answers--
			}
			want := int64(0)
			if ever && places == 0 && answers > 0 {
				want = bytes
			}
			if got := total.Bytes(); got != want || b.Pinned() != want {
				t.Fatalf("in %d places, %d answers, landed %v: total %d, body %d, want %d", places, answers, ever, got, b.Pinned(), want)
			}
		}
	}
}

func TestBodyInManyHands(t *testing.T) {
	total := NewTotal(0)
	b := total.Body()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5000 {
				b.Hold()
				b.Release()
			}
		})
	}
	for range 5000 { // one writer
		b.Land(7)
		b.Leave()
	}
	all.Wait()
	if got := total.Bytes(); got != 0 {
		t.Errorf("left over: %d bytes", got)
	}
	b.Hold()
	if got := total.Bytes(); got != 7 {
		t.Errorf("held and in no place: got %d bytes, want 7", got)
	}
	select {
	case <-total.Over():
	default:
		t.Error("above the limit: nobody was told")
	}
}

func TestNothingIsCountedWithoutATotal(t *testing.T) {
	var total *Total
	b := total.Body()
	b.Land(1)
	b.Hold()
	b.Leave()
	b.Release()
	if b.Pinned() != 0 {
		t.Error("got some bytes")
	}
}
