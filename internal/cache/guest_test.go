package cache

import (
	"fmt"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestAGuestIsRevisedThatBecomesTheHostMeanwhile: to make room for what stands in its place
// pushes the host out, and the guest is another item then.
func TestAGuestIsRevisedThatBecomesTheHostMeanwhile(t *testing.T) {
	testkit.Plain(t, "under the race detector ristretto drops the look-ups that it samples")
	became := 0
	for round := 0; became == 0; round++ { // what ristretto gives up is a matter of chance
		if round == 500 {
			t.Fatal("the guest has never become the host")
		}
		s := newRistrettoStore(t)
		for i := range 14 {
			mustPut(t, s, plain(fmt.Sprintf("/popular/%d", i), 1, 60<<10))
			for range 200 {
				holds(s, fmt.Sprintf("/popular/%d", i))
			}
		}
		s.Put(tagged("/a", "1", `"1"`, 1, 60<<10), nil)
		s.Put(tagged("/a", "2", `"1"`, 1, 60<<10), nil)
		mustPut(t, s, plain("/filler", 1, 60<<10))
		asked := 0
		s.Revise(sum("/a\x002"), func(e *Entry) *Entry {
			asked++
			revised := *e
			revised.Serial = 9
			return &revised
		})
		if asked > 1 {
			became++
		}
		if e, ok := find(s, sum("/a\x002"), []byte("/a\x002")); ok && e.serial != 9 {
			t.Error("is held as it was before")
		}
		checkShares(t, s)
	}
}
