package disk

import (
	"testing"

	"edgeproxy/internal/cache/disk/layout"
)

// What is left of a segment is written anew late, to write little, but not where files get too many.
func TestSegmentsAreWrittenAnewEarlierWhereThereAreTooMany(t *testing.T) {
	f := func(maxBytes int64, segments int, want float64) {
		t.Helper()
		v := &volume{o: Options{MaxBytes: maxBytes}, head: layout.Header{SegmentBytes: 64 << 20}, segments: segments}
		if got := v.sparseLocked(); got != want {
			t.Errorf("%d segments of a store of %d bytes: got %v, want %v", segments, maxBytes, got, want)
		}
	}
	f(64<<30, 1024, sparseShare)
	f(64<<30, 3*1024, sparseShare)
	f(64<<30, 3*1024+1, crowdedShare)
	f(2<<40, slotCount/2, sparseShare)
	f(2<<40, slotCount/2+1, crowdedShare)
}
