package sliding

import (
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
	"edgeproxy/internal/bloom/textbook"
	"edgeproxy/internal/test/testkit"
)

// At 10 bits a key and 7 probes two generations report 1.6 % of unseen keys
// when each is asked by itself, and 13.8 % when the union of their bits is.
func TestGenerationsAreAskedEachByItself(t *testing.T) {
	testkit.Plain(t, "many queries by one goroutine")
	const capacity, queries = 20_000, 200_000
	each := bloom.FalsePositiveRate(10*capacity, 7, capacity)
	window := bloom.WindowRate(each, each) / bloom.DesignRate(1)
	f := lawfulTextbook{newTestTextbook(t, 2, capacity, window)}
	bloomtest.Fill(f, 2, capacity)
	bloomtest.Near(t, "each by itself", bloomtest.Measured(f, queries), 0.0163, 0.1)

	// All keys in one array of the same size set the bits of the union.
	union := textbook.NewFilter(10*capacity, 7)
	for key := range uint64(2 * capacity) {
		union.Add(bloomtest.Hash(key))
	}
	bloomtest.Near(t, "the union of the bits", bloom.RateFromFill(union.Fill(), 7), 0.138, 0.02)
}
