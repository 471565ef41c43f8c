package purge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// bucketLimit is the marks of a bucket before the oldest folds.
const bucketLimit = 16

// With one bucket, the floor is for everything: the case that forgets first.
func TestFullTableOfTagsForgetsNothing(t *testing.T) {
	const count = 5 * bucketLimit
	table := purge.New(purge.Options{Tags: 1})
	for tag := range uint64(count) {
		table.Tag(tag+1, false)
	}
	for tag := range uint64(count) {
		if got := table.Check(tag, at("a", "/"), []uint64{tag + 1}); got != purge.Gone {
			t.Errorf("tag %d, born just before its purge: got %v, want %v", tag, got, purge.Gone)
		}
	}
	stats := table.Stats()
	if stats.Tags != bucketLimit || stats.Folded != count-bucketLimit {
		t.Errorf("got %d marks and %d folded, want %d and %d", stats.Tags, stats.Folded, bucketLimit, count-bucketLimit)
	}

	// What a fold adds: all that is as old as a mark that folded, and no more.
	const stranger, lastFolded = 1 << 40, count - bucketLimit
	if got := table.Check(lastFolded-1, at("a", "/"), []uint64{stranger}); got != purge.Gone {
		t.Errorf("another tag, older than a folded mark: got %v, want %v", got, purge.Gone)
	}
	if got := table.Check(lastFolded, at("a", "/"), []uint64{stranger}); got != purge.Valid {
		t.Errorf("another tag, born after the folded marks: got %v, want %v", got, purge.Valid)
	}
}

func TestFoldedSoftMarksStaySoft(t *testing.T) {
	table := purge.New(purge.Options{Tags: 1})
	for tag := range uint64(2 * bucketLimit) {
		table.Tag(tag+1, true)
	}
	if got := table.Check(0, at("a", "/"), []uint64{1}); got != purge.Stale {
		t.Errorf("a folded tag: got %v, want %v", got, purge.Stale)
	}
	if got := table.Check(0, at("a", "/"), []uint64{1 << 40}); got != purge.Stale {
		t.Errorf("another tag: got %v, want %v", got, purge.Stale)
	}
}

func TestPrefixWithoutRoomPurgesItsHost(t *testing.T) {
	const limit = 4
	table := purge.New(purge.Options{Prefixes: limit})
	for i := range limit + 1 {
		table.Prefix(at(fmt.Sprintf("host%d", i), "/a"), false)
	}
	f := func(born uint64, host, target string, want purge.State) {
		t.Helper()
		if got := table.Check(born, at(host, target), nil); got != want {
			t.Errorf("%s%s born %d: got %v, want %v", host, target, born, got, want)
		}
	}

	f(0, "host0", "/a", purge.Gone)
	f(0, "host0", "/b", purge.Gone) // purged too much
	f(1, "host0", "/b", purge.Valid)
	for i := 1; i <= limit; i++ {
		f(uint64(i), fmt.Sprintf("host%d", i), "/a", purge.Gone)
		f(0, fmt.Sprintf("host%d", i), "/b", purge.Valid)
	}
	if got := table.Stats(); got.Prefixes != limit || got.Hosts != 0 || got.Folded != 1 {
		t.Errorf("got %+v, want %d prefixes, no host, 1 folded", got, limit)
	}
}

// A prefix that is purged again is not the oldest any more, and one that a shorter
// one covers takes no room.
func TestPrefixesTakeNoMoreRoomThanTheyNeed(t *testing.T) {
	table := purge.New(purge.Options{Prefixes: 2})
	table.Prefix(at("a", "/1"), false)
	table.Prefix(at("a", "/2"), false)
	table.Prefix(at("a", "/1"), false)
	table.Prefix(at("a", "/3"), false) // folds /2, of generation 2
	if got := table.Check(2, at("a", "/1"), nil); got != purge.Gone {
		t.Errorf("/1 was purged again: got %v, want %v", got, purge.Gone)
	}
	table.Prefix(at("a", "/"), false)
	if got := table.Stats().Prefixes; got != 1 {
		t.Errorf("after the purge of /: got %d prefixes, want 1", got)
	}
	if got := table.Stats().Folded; got != 1 {
		t.Errorf("got %d folded, want 1", got)
	}
}

// A soft purge of a shorter prefix must not do away with a hard one of a longer.
func TestSoftPrefixKeepsTheHardOnesBelowIt(t *testing.T) {
	table := purge.New(purge.Options{})
	table.Prefix(at("a", "/img/x"), false)
	table.Prefix(at("a", "/img/y"), true)
	table.Prefix(at("a", "/img/"), true)
	for target, want := range map[string]purge.State{"/img/x1": purge.Gone, "/img/y1": purge.Stale, "/img/z": purge.Stale, "/im": purge.Valid} {
		if got := table.Check(0, at("a", target), nil); got != want {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
	if got := table.Stats().Prefixes; got != 2 {
		t.Errorf("got %d prefixes, want 2: /img/ says all that /img/y did", got)
	}
}

// The table holds what it was made for without folding, but for a bucket or two
// that chance overfills.
func TestAsManyMarksAsPromisedAreExact(t *testing.T) {
	const count = 1 << 16
	random := rand.New(rand.NewPCG(1, 2))
	table := purge.New(purge.Options{Tags: count})
	for range count {
		table.Tag(random.Uint64(), false)
	}
	if got := table.Stats().Folded; got > 2 {
		t.Errorf("got %d marks folded of %d, want at most 2", got, count)
	}
	wrong := 0
	for range count {
		if table.Check(0, at("a", "/"), []uint64{random.Uint64()}) != purge.Valid {
			wrong++
		}
	}
	if wrong > 16 {
		t.Errorf("got %d of %d tags purged that nobody purged, want at most 16", wrong, count)
	}
}
