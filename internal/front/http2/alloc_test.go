package http2

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestAHitAllocatesNothing, where its fields are in the table of HPACK: the stream is one that has
// ended, and the frame is read where it lies.
func TestAHitAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "the race detector allocates, and drops what a pool holds")
	_, address := serve(t, stored(1<<10), streams(100))
	h := newHits(t, address)
	for range 100 {
		h.round(t)
	}
	const most = 0.1 // the pool of buffers is emptied by each collection
	if got := testing.AllocsPerRun(200, func() { h.round(t) }) / atOnce; got > most {
		t.Errorf("got %.2f allocations for a hit, want at most %v", got, most)
	} else {
		t.Logf("%.2f allocations for a hit", got)
	}
}
