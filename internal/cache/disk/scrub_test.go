package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// What has gone bad on the disk is found without anybody asking for it.
func TestAScrubFindsWhatHasGoneBad(t *testing.T) {
	path := quickDir(t)
	o := Options{Path: path, every: soon, scrubAfter: time.Hour}
	s := open(t, o)
	for n, length := range lengths {
		store(t, s, n, 1, length)
	}
	s.Close()
	const small, large = 3, 12 // 4000 bytes, and 1 MiB
	for n, at := range map[int]int{small: 0, large: 900_000} {
		spoil(t, path, bodyOf(n, 1, lengths[n])[at:at+100])
	}
	o.scrubAfter = soon
	o.ScrubRate = 1 << 30
	s = open(t, o)
	filled(t, s)
	until(t, "a scrub", func() bool { return s.Stats().Scrubs > 1 })
	for n := range lengths {
		if held := s.Holds(hashOf(keyOf(n))); held != (n != small && n != large) {
			t.Errorf("key %d: held is %v", n, held)
		}
	}
	if st := s.Stats(); st.Damaged != 2 || st.Hits+st.Misses != 0 || st.ScrubbedBytes < 1_000_000 {
		t.Errorf("got %+v", st)
	}
}

// spoil changes a byte where part lies in a segment.
func spoil(t *testing.T, path string, part []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(b, part); at >= 0 {
			b[at+50]++
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("it is in no segment")
}

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
