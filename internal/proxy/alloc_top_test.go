//go:build !race

package proxy_test

import (
	"net/http"
	"testing"

	"edgeproxy/internal/edgetest"
)

func TestHitThatIsCountedByURLAllocatesNothing(t *testing.T) {
	e := edgetest.Start(t, edgetest.Options{Origin: hitOrigin(t)})
	countsAll(t, e)
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
	if e.Proxy.Top() == nil {
		t.Error("nothing was counted")
	}
}
