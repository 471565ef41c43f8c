package simulate

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// tiny reads the log that the golden files are about.
func tiny(t testing.TB) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(t.Context(), []string{"testdata/tiny.log"}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// zipf makes requests up, without times.
func zipf(t testing.TB, requests int) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(t.Context(), []string{fmt.Sprintf("zipf:objects=3000,requests=%d", requests)}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// lru is an eviction in which nothing is left to chance, and which takes any capacity.
func lru() []model.Eviction { return []model.Eviction{model.LRU} }

// ticks is a clock that moves on by a millisecond whenever it is read.
func ticks() func() time.Time {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	}
}

// replayed runs the grid.
func replayed(t testing.TB, tr *trace.Trace, g Grid) *Report {
	t.Helper()
	r, err := Run(t.Context(), tr, g, Options{Workers: 1, Clock: ticks()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
