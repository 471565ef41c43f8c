package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
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
