package varyfields

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestTable(t *testing.T) {
	table := New()
	want := func(hi, lo uint64, names ...string) {
		t.Helper()
		if got := table.Names(hi, lo); !slices.Equal(got, names) {
			t.Errorf("%d %d: got %q, want %q", hi, lo, got, names)
		}
	}
	want(1, 1)
	table.Learn(1, 1, nil)
	want(1, 1)
	table.Learn(1, 1, []string{"Cookie"})
	want(1, 1, "Cookie")
	want(2, 1) // half of the hash is not enough
	want(1, 1+sets)
	table.Learn(1, 1, []string{"Accept-Language", "Cookie"})
	want(1, 1, "Accept-Language", "Cookie")
	table.Learn(2, 1, []string{"User-Agent"})
	want(1, 1, "Accept-Language", "Cookie")
	want(2, 1, "User-Agent")
	table.Learn(1, 1, nil)
	want(1, 1)
	want(2, 1, "User-Agent")
	if got := table.count.Load(); got != 1 {
		t.Errorf("got %d URLs, want 1", got)
	}
}

// Names that do not fit remove what the table had of the URL.
func TestLongListsAreForgotten(t *testing.T) {
	for _, long := range [][]string{slices.Repeat([]string{"X"}, maxNames+1), {strings.Repeat("x", maxNameBytes+1)}} {
		table := New()
		table.Learn(1, 1, []string{"Cookie"})
		table.Learn(1, 1, long)
		if got := table.Names(1, 1); got != nil {
			t.Errorf("got %q, want none", got)
		}
	}
}

// Names may be a part of a header, which must not stay for their sake.
func TestNamesAreCopied(t *testing.T) {
	table := New()
	names := []string{"Cookie"}
	table.Learn(1, 1, names)
	names[0] = "X"
	if got := table.Names(1, 1); got[0] != "Cookie" {
		t.Errorf("got %q, want Cookie", got)
	}
}

// A crawl over other URLs takes the places of those that nobody asks for.
func TestWhatIsAskedForStays(t *testing.T) {
	table := New()
	table.Learn(1, 7, []string{"Cookie"})
	for i := range uint64(1000) {
		table.Learn(2+i, 7, []string{"Cookie"})
		if table.Names(1, 7) == nil {
			t.Fatalf("forgotten after %d others", i+1)
		}
	}
	if got := table.count.Load(); got > ways {
		t.Errorf("got %d URLs in one set, want %d at most", got, ways)
	}
}

func TestTableIsBounded(t *testing.T) {
	table := New()
	for i := range uint64(4 * MaxURLs) {
		table.Learn(i, i, []string{"Cookie"})
	}
	if got := table.count.Load(); got != MaxURLs {
		t.Errorf("got %d URLs, want %d", got, MaxURLs)
	}
}

func TestConcurrentUse(t *testing.T) {
	table := New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 20_000 {
				k := r.Uint64N(64)
				if r.IntN(4) == 0 {
					table.Learn(k, k, nil)
				} else {
					table.Learn(k, k, []string{fmt.Sprint(k)})
				}
				k = r.Uint64N(64)
				if names := table.Names(k, k); names != nil && names[0] != fmt.Sprint(k) {
					t.Errorf("%d: got %q", k, names)
				}
			}
		})
	}
	wg.Wait()
}
