package cache

import (
	"fmt"
	"testing"

	"edgeproxy/internal/conn/pinned"
)

// TestABodyThatIsSentIsCountedOnceItHasLeft: by whichever way it leaves the cache, and
// not while it is in any tier.
func TestABodyThatIsSentIsCountedOnceItHasLeft(t *testing.T) {
	const size = 60 << 10
	f := func(name string, pinnedBytes int64, turn func(s *Store, e *Object)) {
		t.Run(name, func(t *testing.T) {
			total := pinned.NewTotal(1 << 30)
			s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: 256 << 10, Pinned: total})
			mustStage(t, s, plain("/a", 1, size))
			e, _ := find(s, sum("/a"), []byte("/a"))
			e.Pin().Hold()
			turn(s, e)
			if got := s.Stats().PinnedBytes; got != pinnedBytes {
				t.Errorf("while it is sent: got %d, want %d", got, pinnedBytes)
			}
			e.Pin().Release()
			if got := total.Bytes(); got != 0 {
				t.Errorf("then: got %d, want 0", got)
			}
		})
	}
	promote := func(s *Store, _ *Object) { mustPromote(t, s, "/a") }
	crowd := func(s *Store, e *Object) {
		promote(s, e)
		for i := range 100 {
			mustPut(t, s, plain(fmt.Sprintf("/other/%d", i), 1, size))
		}
	}
	f("it stays", 0, func(*Store, *Object) {})
	f("promoted", 0, promote)
	f("renewed", 0, func(s *Store, e *Object) {
		promote(s, e)
		if !s.Renew(renewed(e.Entry(), "x"), e.serial, nil) {
			t.Error("not renewed")
		}
	})
	f("evicted from the stage", size, func(s *Store, _ *Object) {
		for i := range 5 {
			mustStage(t, s, plain(fmt.Sprintf("/other/%d", i), 1, size))
		}
	})
	f("evicted", size, crowd)
	f("purged", size, func(s *Store, e *Object) {
		promote(s, e)
		s.Purge(e.URL(), e.Name())
	})
	f("discarded", size, func(s *Store, e *Object) { s.Discard(e) })
	f("replaced", size, func(s *Store, e *Object) {
		promote(s, e)
		mustPut(t, s, plain("/a", 2, size))
	})
	f("renewed and purged", size, func(s *Store, e *Object) {
		promote(s, e)
		s.Renew(renewed(e.Entry(), "x"), e.serial, nil)
		s.Purge(e.URL(), e.Name())
	})
	f("purged and put again", 0, func(s *Store, e *Object) {
		s.Purge(e.URL(), e.Name())
		mustPut(t, s, e.Entry())
	})
}
