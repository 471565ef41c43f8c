package disk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const memberKeys = 60

// putAll puts keys from first on into g, of a version.
func putAll(t *testing.T, g *Group, first, version int) {
	t.Helper()
	for n := first; n < first+memberKeys; n++ {
		if err := g.Put(hashIn(g, n), keyOf(n), blockOf(n, version), bodyOf(n, version, 2000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Flush(); err != nil {
		t.Fatal(err)
	}
}

// hashIn is that of key n in a directory with another seed.
func hashIn(g *Group, n int) uint64 { return hashOf(keyOf(n)) ^ g.Seed() }

// foundIn returns how many keys from first on g has, all of a version.
func foundIn(t *testing.T, g *Group, first, version int) (n int) {
	t.Helper()
	for _, s := range g.Stores() {
		filled(t, s)
	}
	var h Hit
	defer h.Close()
	for i := first; i < first+memberKeys; i++ {
		if !g.Find(hashIn(g, i), keyOf(i), &h) {
			continue
		}
		n++
		if string(h.Block) != string(blockOf(i, version)) {
			t.Errorf("key %d: got another version than %d", i, version)
		}
	}
	return n
}

// A directory that was used alone and becomes one of several keeps all that it has, wherever it stands in the list. Where it came second the new one got
// a seed of its own, and the program never started again.
func TestADirectoryThatGrowsIntoAGroupKeepsWhatItHas(t *testing.T) {
	for _, second := range []bool{false, true} {
		dir := quickDir(t)
		a, b := Options{Path: filepath.Join(dir, "a")}, Options{Path: filepath.Join(dir, "b")}
		g := group(t, a)
		putAll(t, g, 0, 1)
		g.end()
		all := []Options{a, b}
		if second {
			slices.Reverse(all)
		}
		if lost := Dropped(all...); len(lost) != 0 {
			t.Errorf("second %v: %v would be dropped", second, lost)
		}
		g = group(t, all...)
		if n := foundIn(t, g, 0, 1); n != memberKeys {
			t.Errorf("second %v: got %d of %d keys", second, n, memberKeys)
		}
		putAll(t, g, 0, 2) // each in its place, and nowhere else
		if n, objects := foundIn(t, g, 0, 2), g.Stats().Objects; n != memberKeys || objects != memberKeys {
			t.Errorf("second %v: got %d of %d keys in %d records", second, n, memberKeys, objects)
		}
		for i := range memberKeys {
			g.Remove(hashIn(g, i))
		}
		if n := foundIn(t, g, 0, 2); n != 0 {
			t.Errorf("second %v: got %d keys that were removed", second, n)
		}
		g.end()
	}
}

// What is removed while the directory that has it, where it does not belong, is being read is not found later.
func TestAStrayThatIsReplacedDoesNotComeBack(t *testing.T) {
	dir := quickDir(t)
	a, b := Options{Path: filepath.Join(dir, "a")}, Options{Path: filepath.Join(dir, "b")}
	g := group(t, a)
	putAll(t, g, 0, 1)
	g.end()
	g = group(t, a, b)
	for i := range memberKeys { // perhaps before the index has any
		g.Remove(hashIn(g, i))
	}
	if n := foundIn(t, g, 0, 1); n != 0 {
		t.Errorf("got %d keys that were removed", n)
	}
}

// Two directories that were used alone were refused for good. The home keeps what it has, and the other is emptied, which is said before.
func TestOfTwoDirectoriesThatWereAloneOneKeepsWhatItHas(t *testing.T) {
	dir := quickDir(t)
	a, b := Options{Path: filepath.Join(dir, "a")}, Options{Path: filepath.Join(dir, "b")}
	for i, o := range []Options{a, b} {
		g := group(t, o)
		putAll(t, g, i*memberKeys, 1)
		g.end()
	}
	check := func(first, home int, all ...Options) {
		t.Helper()
		if lost := Dropped(all...); len(lost) != 1 || lost[0] != all[1-home].Path {
			t.Errorf("got %v to be dropped, want %s alone", lost, all[1-home].Path)
		}
		g := group(t, all...)
		if n := foundIn(t, g, first, 1); n != memberKeys {
			t.Errorf("got %d of %d keys of the home", n, memberKeys)
		}
		if n := g.Stats().Objects; n != memberKeys {
			t.Errorf("got %d records, want those of the home, %d", n, memberKeys)
		}
		g.end()
		if lost := Dropped(all...); len(lost) != 0 {
			t.Errorf("%v would be dropped again", lost)
		}
	}
	b.Home = true
	check(memberKeys, 1, a, b)
}

// A directory that was out of the group for a while may have what was replaced or purged since: it is emptied. One that stays keeps what it has, the one whose device
// fails at a start as well.
func TestADirectoryThatComesBackIntoAGroupIsEmptied(t *testing.T) {
	dir := quickDir(t)
	a, b := Options{Path: filepath.Join(dir, "a"), every: soon}, Options{Path: filepath.Join(dir, "b"), every: soon}
	g := group(t, a, b)
	putAll(t, g, 0, 1)
	inA := int(g.Stores()[0].Stats().Objects)
	g.end()

	away := func() {
		t.Helper()
		if err := os.Rename(b.Path, b.Path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.Path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	back := func() {
		t.Helper()
		if err := os.Remove(b.Path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(b.Path+".away", b.Path); err != nil {
			t.Fatal(err)
		}
	}
	away()
	g = group(t, a, b) // without b, which is in the list
	g.end()
	back()
	if lost := Dropped(a, b); len(lost) != 0 {
		t.Errorf("%v would be dropped, only since its device has failed at a start", lost)
	}
	g = group(t, a, b)
	if n := foundIn(t, g, 0, 1); n != memberKeys {
		t.Errorf("after a start without b: got %d of %d keys", n, memberKeys)
	}
	g.end()

	g = group(t, a) // b leaves the list
	if n := foundIn(t, g, 0, 1); n != inA {
		t.Errorf("a alone: got %d keys, want its own, %d", n, inA)
	}
	putAll(t, g, 0, 2)
	g.end()
	g = group(t, a, b)
	if n := foundIn(t, g, 0, 2); n != memberKeys { // none of version 1
		t.Errorf("b is back: got %d of %d keys", n, memberKeys)
	}
	if n := g.Stores()[1].Stats().Objects; n != 0 {
		t.Errorf("b has %d records, want none", n)
	}
}

// A device that was not mounted at a start, so that an empty directory lay in its place, is not taken for the home of the others when it is back: it does not
// know what was purged since.
func TestAHomeThatWasNotMountedIsEmptied(t *testing.T) {
	dir := quickDir(t)
	a, b := Options{Path: filepath.Join(dir, "a"), Home: true}, Options{Path: filepath.Join(dir, "b")}
	g := group(t, a, b)
	putAll(t, g, 0, 1)
	inB := int(g.Stores()[1].Stats().Objects)
	g.end()
	if err := os.Rename(a.Path, a.Path+".away"); err != nil {
		t.Fatal(err)
	}
	g = group(t, a, b)
	if n := foundIn(t, g, 0, 1); n != inB {
		t.Errorf("without a: got %d keys, want those of b, %d", n, inB)
	}
	g.end()
	if err := os.RemoveAll(a.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(a.Path+".away", a.Path); err != nil {
		t.Fatal(err)
	}
	if lost := Dropped(a, b); !slices.Equal(lost, []string{a.Path}) {
		t.Errorf("got %v to be dropped, want a alone", lost)
	}
	g = group(t, a, b)
	if n := foundIn(t, g, 0, 1); n != inB {
		t.Errorf("a is back: got %d keys, want those of b, %d", n, inB)
	}
}
