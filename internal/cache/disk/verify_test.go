package disk

import (
	"errors"
	"path/filepath"
	"testing"

	"edgeproxy/internal/cache/disk/layout"
)

func TestVerifyTellsDamageByFileAndOffset(t *testing.T) {
	path := t.TempDir()
	s := open(t, Options{Path: path})
	for i, n := range []int{100, 5000, 40_000, 300_000} {
		if err := s.Put(hashOf(keyOf(i)), keyOf(i), blockOf(i, 1), bodyOf(i, 1, n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	var spots []Checked
	verify := func() (damaged []Checked) {
		t.Helper()
		spots = nil
		if err := s.Verify(func(c Checked) bool {
			spots = append(spots, c)
			if c.Err != nil {
				damaged = append(damaged, c)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return damaged
	}
	if damaged := verify(); len(spots) != 4 || damaged != nil {
		t.Fatalf("got %v, want 4 records and none damaged", spots)
	}
	hits := s.Stats().Hits
	for _, c := range spots {
		at := c.Offset + 70 // in the key
		if c.Bytes > layout.LargeFrom {
			at = c.Offset + c.Bytes - 20_000 // in the body
		}
		flip(t, filepath.Join(path, c.File), at)
	}
	damaged := verify()
	if len(damaged) != 4 || !errors.Is(damaged[0].Err, ErrDamaged) || damaged[0].File != spots[0].File || damaged[0].Offset != spots[0].Offset {
		t.Errorf("got %+v, want all 4 of them", damaged)
	}
	if damaged := verify(); len(spots) != 0 || damaged != nil {
		t.Errorf("once more: got %v, want nothing left", spots)
	}
	if st := s.Stats(); st.Damaged != 4 || st.Objects != 0 || st.Hits != hits {
		t.Errorf("got %d damaged, %d left, %d hits, want 4, none, and no hit", st.Damaged, st.Objects, st.Hits-hits)
	}
}
