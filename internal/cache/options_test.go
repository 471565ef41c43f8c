package cache

import (
	"strings"
	"testing"
)

func TestNewRefusesOptionsThatCannotWork(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		s, err := New(o)
		if err == nil {
			s.Close()
			t.Errorf("New(%+v): got no error, want one", o)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("New(%+v): got error %q, want it to say %q", o, err, w)
			}
		}
	}
	f(Options{}, "MaxBytes 0", "MaxObjectBytes 0", "MaxVariants 0")
	f(Options{MaxBytes: 64<<10 - 1, MaxObjectBytes: 1, MaxVariants: 1}, "MaxBytes 65535: must be at least 65536")
	f(Options{MaxBytes: 1 << 20, MaxObjectBytes: 256<<10 + 1, MaxVariants: 1}, "MaxObjectBytes 262145: must be 1 to 262144, a quarter")
	f(Options{MaxBytes: 1 << 20, MaxObjectBytes: 1}, "MaxVariants 0")
	f(Options{MaxBytes: -1, MaxObjectBytes: -1, MaxVariants: -1}, "MaxBytes -1", "MaxObjectBytes -1", "MaxVariants -1")
	f(Options{MaxBytes: 1 << 20, MaxObjectBytes: 1, MaxVariants: 1, StageBytes: 1<<19 + 1},
		"StageBytes 524289: must be 0 to 524288, half of MaxBytes")
	f(Options{MaxBytes: 1 << 20, MaxObjectBytes: 1, MaxVariants: 1, StageBytes: -1}, "StageBytes -1")
	f(Options{MaxBytes: 1 << 20, MaxObjectBytes: 128<<10 + 1, MaxVariants: 1, StageBytes: 1 << 19},
		"MaxObjectBytes 131073: must be 1 to 131072, a quarter of MaxBytes without StageBytes")
}

func TestSharesFitInMaxBytes(t *testing.T) {
	f := func(maxBytes, stageBytes, object int64) {
		t.Helper()
		l, err := Options{MaxBytes: maxBytes, StageBytes: stageBytes, MaxObjectBytes: object, MaxVariants: 32}.limits()
		if err != nil {
			t.Fatal(err)
		}
		memory := maxBytes - stageBytes
		if l.stageBytes != stageBytes || l.memoryBytes != memory || l.windowBytes+l.offerBytes+l.indexBytes+l.mainBytes != memory {
			t.Errorf("MaxBytes %d, StageBytes %d: got %+v, want parts that add up", maxBytes, stageBytes, l)
		}
		if l.windowBytes <= object || l.mainBytes < l.windowBytes || l.mainBytes < memory/2 {
			t.Errorf("MaxBytes %d, StageBytes %d, object %d: got window %d, main %d: want room for the object in both",
				maxBytes, stageBytes, object, l.windowBytes, l.mainBytes)
		}
		if l.windowBytes < memory/windowShare || l.indexBytes < memory/indexShare {
			t.Errorf("MaxBytes %d: got window %d, index %d: want their shares", maxBytes, l.windowBytes, l.indexBytes)
		}
		if n := counters(l.mainBytes); n < minCounters || n > maxCounters || n&(n-1) != 0 {
			t.Errorf("MaxBytes %d: got %d counters, want a power of two in bounds", maxBytes, n)
		}
	}
	for maxBytes := int64(minMaxBytes); maxBytes < 1<<42; maxBytes = maxBytes*7/5 + 1 {
		for _, stageBytes := range []int64{0, 1, maxBytes / 10, maxBytes / stageShare} {
			for _, object := range []int64{1, maxBytes / 100, (maxBytes - stageBytes) / objectShare} {
				f(maxBytes, stageBytes, object)
			}
		}
	}
}
