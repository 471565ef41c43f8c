//go:build !race

package proxy_test

import (
	"net/http"
	"runtime"
	"testing"

	"edgeproxy/internal/edgetest"
)

// Several ranges cost what frames them, however long they are: nothing of the
// stored body is copied. The connection goes on, answer after answer. The race
// detector allocates by itself, so there the number means nothing.
func TestSeveralRangesOfALargeBodyAreNotCopied(t *testing.T) {
	const hits, mostBytes, mostAllocs = 200, 4 << 10, 12
	e := edgetest.Start(t, edgetest.Options{Origin: hitOrigin(t)})
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1000000", "Range: bytes=500000-999999,0-299999,400000-400000\r\n"))
	if least := 800001; c.body < least || c.body > least+1024 {
		t.Fatalf("got a body of %d bytes, want %d and what frames them", c.body, least)
	}
	if got := allocsPerHit(t, c); got > mostAllocs {
		t.Errorf("got %.1f allocations an answer, want at most %d", got, mostAllocs)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range hits {
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / hits; got > mostBytes {
		t.Errorf("got %d bytes allocated an answer, want at most %d", got, mostBytes)
	} else {
		t.Logf("%d bytes allocated an answer", got)
	}
}
