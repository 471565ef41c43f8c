//go:build !race

package http2

import "testing"

// TestAHitAllocatesLittle: nothing for a field of the answer, and for the request its stream and
// the frame that it came in.
func TestAHitAllocatesLittle(t *testing.T) {
	_, address := serve(t, stored(1<<10), streams(100))
	h := newHits(t, address)
	for range 100 {
		h.round(t)
	}
	const most = 5.0
	if got := testing.AllocsPerRun(200, func() { h.round(t) }) / atOnce; got > most {
		t.Errorf("got %.1f allocations for a hit, want at most %v", got, most)
	} else {
		t.Logf("%.1f allocations for a hit", got)
	}
}
