package disk

import (
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// A large record that was removed before its segment was sealed kept its bytes until the hand came. So records that came and went while the
// directory had room for all others filled it, and the hand evicted those others.
func TestARecordThatLeftBeforeItsSegmentWasSealedKeptItsBytes(t *testing.T) {
	const length = 60_000
	remove := func(s *Store, n int) { s.Remove(hashOf(keyOf(n))) }
	f := func(name string, come func(t *testing.T, s *Store, f *faulty)) {
		t.Run(name, func(t *testing.T) {
			var faults faulty
			path := quickDir(t)
			s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: faults.hook})
			come(t, s, &faults)
			settle(t, s)
			asked(t, s, func(v *volume) { _ = v.writer.seal(layout.Large); v.writer.endIdle() })
			if got := onDisk(t, path); got > length+10*layout.Page { // the other files, and what belongs to each segment
				t.Errorf("got %d bytes on the disk, want those of the one record that is left", got)
			}
			if got := s.Stats().Bytes; got > length+10*layout.Page {
				t.Errorf("Stats: got %d bytes, want those of the one record that is left", got)
			}
			check := func(s *Store) {
				t.Helper()
				holds(t, s, 0, 1, length)
				lacks(t, s, 1)
				lacks(t, s, 2)
			}
			check(s)
			s.Close()
			s = open(t, Options{Path: path, MaxBytes: MinBytes})
			filled(t, s)
			check(s)
		})
	}
	f("after it was written", func(t *testing.T, s *Store, _ *faulty) {
		for n := range 3 {
			store(t, s, n, 1, length)
		}
		settle(t, s)
		remove(s, 1)
		remove(s, 2)
	})
	f("while it is written", func(t *testing.T, s *Store, f *faulty) {
		store(t, s, 0, 1, length)
		settle(t, s)
		store(t, s, 1, 1, length)
		f.set(func(c device.Call) error {
			if c.Op == device.Write && c.Name != removalsName {
				remove(s, 1)
			}
			return nil
		})
		settle(t, s)
	})
	f("while it is published", func(t *testing.T, s *Store, f *faulty) {
		var writes atomic.Int64
		if err := stream(s, 0, 1, length+10_000, true); err != nil {
			t.Fatal(err)
		}
		remove(s, 0)
		store(t, s, 0, 1, length)
		d, err := draft(s, 1, 1, 100_000, true)
		if err != nil {
			t.Fatal(err)
		}
		settle(t, s)
		f.set(func(c device.Call) error {
			if c.Op == device.Write && c.Name != removalsName && writes.Add(1) == 2 { // the rest of the body, and then the head
				remove(s, 1)
			}
			return nil
		})
		if err := d.Commit(keyOf(1), blockOf(1, 1)); err != nil {
			t.Fatal(err)
		}
		if writes.Load() < 2 {
			t.Fatalf("got %d writes, want the body's and the head's", writes.Load())
		}
	})
}

// Records that came and went moved the hand, though the others left room for dozens of them.
func TestRecordsThatComeAndGoEvictNothing(t *testing.T) {
	const length, kept = 60_000, 4
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes})
	for n := range kept {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	for n := kept; n < 4*MinBytes/length; n++ {
		store(t, s, n, 1, length)
		settle(t, s)
		s.Remove(hashOf(keyOf(n)))
	}
	for n := range kept {
		holds(t, s, n, 1, length)
	}
	if st := s.Stats(); st.EvictedLarge != 0 || st.Bytes > MinBytes/2 {
		t.Errorf("got %d records evicted, %d bytes: want no eviction in a directory that is half empty", st.EvictedLarge, st.Bytes)
	}
}
