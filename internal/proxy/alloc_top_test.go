package proxy_test

import (
	"net/http"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestHitThatIsCountedByURLAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, countsAll, hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
	if e.Proxy.Top() == nil {
		t.Error("nothing was counted")
	}
}
