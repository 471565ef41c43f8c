package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// group opens a Group that is closed with the test.
func group(t *testing.T, all ...Options) *Group {
	t.Helper()
	for i := range all {
		all[i] = small(all[i])
	}
	g, err := OpenGroup(all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.stores != nil {
			g.Close()
		}
	})
	return g
}

func (g *Group) end() {
	g.Close()
	g.stores = nil
}

func TestAGroupIsAStoreOfSeveralDirectories(t *testing.T) {
	dir := quickDir(t)
	o := []Options{{Path: filepath.Join(dir, "a")}, {Path: filepath.Join(dir, "b"), MaxBytes: 64 << 20}, {Path: filepath.Join(dir, "c")}}
	g := group(t, o...)
	const keys = 300
	for n := range keys {
		h := hashOf(keyOf(n))
		if n%3 == 0 {
			d, err := g.Create(h, -1, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Write(bodyOf(n, 1, 100_000)); err != nil {
				t.Fatal(err)
			}
			if err := d.Commit(keyOf(n), blockOf(n, 1)); err != nil {
				t.Fatal(err)
			}
		} else if err := g.Put(h, keyOf(n), blockOf(n, 1), bodyOf(n, 1, n*10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(g.Flush(), g.Keep(), g.Err()); err != nil {
		t.Fatal(err)
	}
	g.Remove(hashOf(keyOf(7)))
	st, sum := g.Stats(), int64(0)
	for i, s := range g.Stores() {
		one := s.Stats()
		sum += one.Objects
		if one.Objects < keys/6 {
			t.Errorf("directory %d has %d objects of %d", i, one.Objects, keys)
		}
	}
	if st.Objects != sum || sum != keys-1 || st.MaxBytes != 128<<20 || st.WriteTimes.Count() == 0 || !st.Punches {
		t.Errorf("got %+v, want the sum of all, with %d objects", st, sum)
	}
	seed := g.Seed()
	g.end()
	o[0], o[2] = o[2], o[0] // their order is nothing to them
	g = group(t, o...)
	if g.Seed() != seed {
		t.Error("another seed")
	}
	for _, s := range g.Stores() {
		filled(t, s)
	}
	seen, stopped := 0, 0
	if err := g.Each(func(*Item) bool { seen++; return true }); err != nil || seen != keys-1 {
		t.Errorf("each: got %d, %v, want %d", seen, err, keys-1)
	}
	if err := g.Each(func(*Item) bool { stopped++; return false }); err != nil || stopped != 1 {
		t.Errorf("each that is stopped: got %d, %v", stopped, err)
	}
	var h Hit
	defer h.Close()
	for n := range keys {
		hash := hashOf(keyOf(n))
		g.Touch(hash)
		if found := g.Find(hash, keyOf(n), &h); found != (n != 7) || found != g.Holds(hash) {
			t.Errorf("key %d: found %v, held %v", n, found, g.Holds(hash))
		}
	}
}

// A key goes to a directory the more likely the larger that is, and changes hands only to one that is new or larger.
func TestKeysStayWhereTheyAre(t *testing.T) {
	of := func(weights ...float64) *Group {
		g := &Group{}
		for i, w := range weights {
			g.stores = append(g.stores, &Store{})
			g.weights = append(g.weights, weight{id: idOf(string(rune('a' + i))), bytes: w})
		}
		return g
	}
	index := func(g *Group, n int) int {
		for i, s := range g.stores {
			if s == g.storeOf(hashOf(keyOf(n))) {
				return i
			}
		}
		return -1
	}
	const keys = 40_000
	g, larger, more := of(1, 3), of(1, 4), of(1, 3, 4)
	second, moved, third := 0, 0, 0
	for n := range keys {
		at := index(g, n)
		second += at
		if now := index(larger, n); now != at {
			moved++
			if now != 1 {
				t.Fatalf("key %d went from %d to %d when 1 grew", n, at, now)
			}
		}
		if now := index(more, n); now == 2 {
			third++
		} else if now != at {
			t.Fatalf("key %d went from %d to %d when 2 came", n, at, now)
		}
	}
	for what, c := range map[string]struct{ got, want float64 }{
		"of the larger": {float64(second) / keys, 0.75}, "that move to one that grows": {float64(moved) / keys, 0.05}, "of a new one": {float64(third) / keys, 0.5},
	} {
		if c.got < c.want-0.01 || c.got > c.want+0.01 {
			t.Errorf("share of keys %s: got %.3f, want %.3f", what, c.got, c.want)
		}
	}
}

// A device that is not there at the start is left out, and is taken back.
func TestADirectoryThatCannotBeOpenedIsLeftOut(t *testing.T) {
	dir := quickDir(t)
	a, b := Options{Path: filepath.Join(dir, "a"), every: soon}, Options{Path: filepath.Join(dir, "b"), every: soon}
	g := group(t, a, b)
	const keys = 50
	for n := range keys {
		if err := g.Put(hashOf(keyOf(n)), keyOf(n), blockOf(n, 1), bodyOf(n, 1, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	g.end()
	if err := os.Rename(b.Path, b.Path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]Options{{a, b}, {b, a}} { // also where the first of them does not know its seed
		g = group(t, all...)
		found := func() (n int) {
			var h Hit
			defer h.Close()
			for i := range keys {
				if g.Find(hashOf(keyOf(i)), keyOf(i), &h) {
					n++
				}
			}
			return n
		}
		for _, s := range g.Stores() {
			if s.Err() == nil {
				filled(t, s)
			}
		}
		few, off := found(), 0
		for n := keys; n < 2*keys; n++ {
			if err := g.Put(hashOf(keyOf(n)), keyOf(n), nil, nil); errors.Is(err, ErrOff) {
				off++
			} else if err != nil {
				t.Error(err)
			}
		}
		if g.Err() == nil || few < keys/5 || few > keys*4/5 || off < keys/5 || off > keys*4/5 {
			t.Errorf("without b: %d of %d are found, %d of as many refused, %v", few, keys, off, g.Err())
		}
		if err := g.Each(func(*Item) bool { return true }); !errors.Is(err, ErrOff) {
			t.Errorf("each: got %v, want ErrOff", err)
		}
		if err := os.Remove(b.Path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(b.Path+".away", b.Path); err != nil {
			t.Fatal(err)
		}
		until(t, "recovery", func() bool { return g.Err() == nil })
		for _, s := range g.Stores() {
			filled(t, s)
		}
		if n := found(); n != keys {
			t.Errorf("with b: %d of %d are found", n, keys)
		}
		g.end()
		if err := os.Rename(b.Path, b.Path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.Path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenGroup(small(b)); !errors.Is(err, ErrNoDirectory) {
		t.Errorf("without any: got %v, want ErrNoDirectory", err)
	}
	if _, err := OpenGroup(); !errors.Is(err, ErrNoDirectory) {
		t.Errorf("of none: got %v, want ErrNoDirectory", err)
	}
}

func TestAGroupRefusesWhatIsNoneOfIts(t *testing.T) {
	dir := quickDir(t)
	a, mine := small(Options{Path: filepath.Join(dir, "a")}), small(Options{Path: dir})
	open(t, a).Close()
	if _, err := OpenGroup(a, mine); !errors.Is(err, ErrForeign) {
		t.Errorf("one that is none: got %v, want ErrForeign", err)
	}
	group(t, a).end() // it has let go of it
}
