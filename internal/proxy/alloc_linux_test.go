package proxy_test

import (
	"net/http"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestHitByCopyAllocatesNothing: of a body that has a copy to be sent from.
func TestHitByCopyAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/262144", ""))
	hasCopy(t, e, func() { _ = c.learn(t, c.request) })
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}
