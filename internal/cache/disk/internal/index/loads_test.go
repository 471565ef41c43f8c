package index

import (
	"slices"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestNothingIsLostAtTheLoadItIsMadeFor(t *testing.T) {
	testkit.Plain(t, "many single calls, and no two at a time")
	const objects = 300_000
	x := New(objects)
	for n := range objects {
		if lost, wasLost := x.Put(hashOf(n), placeOf(n)); wasLost {
			t.Fatalf("Put of object %d pushed %v out at a load of %.3f", n, lost, x.Load())
		}
	}
	for n := range objects {
		if !slices.Contains(x.Find(hashOf(n), nil), placeOf(n)) {
			t.Fatalf("object %d is not found", n)
		}
	}
	if perObject := float64(x.Bytes()) / objects; perObject > 9 {
		t.Errorf("%.2f bytes an object, want at most 9", perObject)
	}
	if got := x.Load(); got > FullLoad || got < FullLoad-0.001 {
		t.Errorf("Load() = %.4f, want %.1f", got, FullLoad)
	}
}

func TestFewAreLostAtALoadOf95Percent(t *testing.T) {
	testkit.Plain(t, "many single calls, and no two at a time")
	const objects = 300_000
	x, lost := New(objects*9/10*100/95), 0
	for n := range objects * 9 / 10 * 100 / 95 * 95 / 90 {
		if _, wasLost := x.Put(hashOf(n), placeOf(n)); wasLost {
			lost++
		}
	}
	if share := float64(lost) / objects; lost == 0 || share > 0.0005 {
		t.Errorf("%d of %d lost, want some and at most 0.05 %%", lost, objects)
	}
}

func TestAbsentKeysHaveAPlaceInFewLookUps(t *testing.T) {
	testkit.Plain(t, "many single calls, and no two at a time")
	const objects, lookUps = 200_000, 2_000_000
	x := New(objects)
	for n := range objects {
		x.Put(hashOf(n), placeOf(n))
	}
	var room [16]Place
	found := 0
	for n := range lookUps {
		found += len(x.Find(hashOf(objects+n), room[:0]))
	}
	// 14.4 words a look-up, each of which fits with 2^-20: 27 expected.
	if found == 0 || found > 60 {
		t.Errorf("%d places for %d absent keys, want about 27", found, lookUps)
	}
}
