package origin

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

// The number is that of a GET whose context can end, on a used connection: the
// request itself, the watch over the context, response, body, head and fields.
func TestRoundTripAllocations(t *testing.T) {
	testkit.Plain(t, "the race detector allocates, and drops what a pool holds")
	const limit = 6
	o := open(t, Options{Address: benchmarkOrigin(t)})
	ctx := t.Context()
	buf := make([]byte, 32<<10)
	got := testing.AllocsPerRun(200, func() {
		res, err := o.RoundTrip(ctx, get("/page?a=b"))
		if err != nil {
			t.Fatal(err)
		}
		drain(t, res.Body, buf)
	})
	if got > limit {
		t.Errorf("got %v allocations, want at most %d", got, limit)
	}
}
