package cache

import (
	"testing"

	"edgeproxy/internal/http/field"
)

// renewed returns e with another head, as a 304 makes it.
func renewed(e *Entry, value string) *Entry {
	r := *e
	r.Serial++
	r.Header = field.List{{Name: "X-Version", Value: value}}
	return &r
}

func TestRenewWritesNothing(t *testing.T) {
	f := func(where string, settle func(s *Store)) {
		t.Helper()
		t.Run(where, func(t *testing.T) {
			s := newStore(t, 1<<20, 16<<10)
			e := plain("/a", 1, 1000)
			s.Put(e, nil)
			settle(s)
			if got, _ := s.Find(e.Key, e.Name); got == nil {
				t.Fatal("not held before it is renewed")
			}
			before := s.Stats()
			if !s.Renew(renewed(e, "a longer value than before"), e.Serial, nil) {
				t.Fatal("got false, want it renewed")
			}
			got, tier := findIn(s, e.Key, e.Name)
			if got == nil || tier != Memory || first(got).Value != "a longer value than before" || !got.Content().same(e.Content) {
				t.Errorf("got %+v in %v, want the new head with the same body", got, tier)
			}
			after := s.Stats()
			if after.Writes != before.Writes || after.Objects != before.Objects || after.Replaced != before.Replaced || after.NeverHit != before.NeverHit {
				t.Errorf("got %+v, want the counts of before, %+v", after, before)
			}
			if want := before.Bytes - e.Cost() + got.cost(); after.Bytes != want {
				t.Errorf("got %d bytes, want %d", after.Bytes, want)
			}
		})
	}
	f("in the window", func(*Store) {})
	f("in the main part", func(s *Store) {
		for i := range 60 { // the window holds one sixteenth of a mebibyte and more
			s.Put(plain("/other/"+string(rune(0x30+i)), 1, 2000), nil)
		}
	})
}

func TestRenewOfWhatHasLeftChangesNothing(t *testing.T) {
	s := newStore(t, 1<<20, 16<<10)
	e := plain("/a", 1, 1000)
	if s.Renew(e, e.Serial, nil) {
		t.Error("never stored: got true")
	}
	s.Put(e, nil)
	s.Purge(e.URL, e.Name)
	if s.Renew(renewed(e, "x"), e.Serial, nil) {
		t.Error("purged: got true")
	}
	if got, _ := s.Find(e.Key, e.Name); got != nil {
		t.Error("a purged entry is back")
	}
}

// TestRenewHeedsAPurge: purged while it was validated, it is not touched, and
// nothing is left for the caller to do.
func TestRenewHeedsAPurge(t *testing.T) {
	s := newStore(t, 1<<20, 16<<10)
	e := plain("/a", 1, 1000)
	s.Put(e, nil)
	if !s.Renew(renewed(e, "x"), e.Serial, func() bool { return true }) {
		t.Error("got false")
	}
	if got, _ := s.Find(e.Key, e.Name); got == nil || first(got).Value == "x" {
		t.Errorf("got %+v, want the entry as it was", got)
	}
}
