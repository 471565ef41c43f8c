package disk

import (
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// What is evicted has lain since its segment was written, also where another process has written it.
func TestHowLongEvictedRecordsHadLain(t *testing.T) {
	f := func(name string, length int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			var ahead atomic.Int64 // of the clock of the system
			o := Options{Path: path, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
			s := open(t, o)
			n := 0
			more := func() {
				store(t, s, n, 0, length)
				n++
				if err := s.Flush(); err != nil { // nothing runs when the clock is moved
					t.Fatal(err)
				}
			}
			evicts := func(least, most time.Duration) {
				t.Helper()
				before := s.Stats()
				for now := before; now.EvictedSmall+now.EvictedLarge == before.EvictedSmall+before.EvictedLarge; now = s.Stats() {
					if more(); n > 100_000 {
						t.Fatal("nothing is evicted")
					}
				}
				if got := time.Duration(s.Stats().EvictedAge * float64(time.Second)); got < least || got > most {
					t.Errorf("got %v, want %v to %v", got, least, most)
				}
			}
			for s.Stats().Bytes < 24<<20 {
				more()
			}
			if got := s.Stats().EvictedAge; got != 0 {
				t.Errorf("nothing was evicted: got %v s", got)
			}
			ahead.Store(int64(time.Hour))
			evicts(time.Hour, 2*time.Hour)
			s.Close()
			ahead.Store(int64(9 * time.Hour))
			s = open(t, o)
			for s.Stats().Unfilled > 0 {
				more()
			}
			evicts(8*time.Hour, 10*time.Hour)
		})
	}
	f("small", 200_000)
	f("large", layout.LargeFrom+1000)
}
