package cache

import (
	"fmt"
	"slices"
	"testing"
)

// TestPeekIsNoHit looks at many entries, in whatever place each of them is by then.
func TestPeekIsNoHit(t *testing.T) {
	s := newStoreOf(t, usualOptions())
	url := func(i int) string { return fmt.Sprintf("/%d", i) }
	var in [OnDisk + 1]int
	for i := range 400 {
		mustPut(t, s, plain(url(i), uint64(i), 1<<10))
	}
	mustPut(t, s, variant("/v", "de", 1<<10, "X-Lang"))
	for i := range 400 {
		o, place := s.Peek(sum(url(i)), []byte(url(i)))
		in[place]++
		if (o != nil) != (place == InMain) {
			t.Errorf("%s: got %v in %q", url(i), o, place)
		}
		if o != nil && (o.asked() || versionOf(o) != uint64(i)) {
			t.Errorf("%s: asked %v, version %d, want it untouched", url(i), o.asked(), versionOf(o))
		}
	}
	if in[InMain] < 300 {
		t.Errorf("got %d of 400 entries in memory, want most: the rest was refused by frequency", in[InMain])
	}
	if o, place := s.Peek(sum("/v"), []byte("/v")); o != nil || place != Nowhere {
		t.Errorf("a URL that varies: got %v in %q, want nothing", o, place)
	}
	if l := s.PeekVary(sum("/v"), []byte("/v")); l.Len() != 1 || l.At(0)[0] != "X-Lang" {
		t.Errorf("a URL that varies: got %v, want the field X-Lang", l)
	}
	if o, place := s.Peek(sum("/v\x00de"), []byte("/v\x00de")); o == nil || place != InMain || o.uses() != 0 {
		t.Errorf("its variant: got %v in %q, want it unused in memory", o, place)
	}
	if o, _ := s.Peek(sum("/1"), []byte("/other")); o != nil {
		t.Errorf("another name with the same hash: got %s", o.Name())
	}
}

// variantsOf returns the names of what PeekVariants finds, sorted, each behind its place.
func variantsOf(s *Store, url string) (all []string) {
	for _, p := range s.PeekVariants(sum(url), []byte(url)) {
		all = append(all, p.In.String()+" "+string(p.Object.Name()))
		s.Release(p.Object)
	}
	slices.Sort(all)
	return all
}

func TestPeekVariantsFindsAllOfAURLAndUsesNone(t *testing.T) {
	s, _ := newStoreOnDisk(t, usualOptions())
	mustPut(t, s, plain("/a", 7, 1<<10))
	for _, lang := range []string{"de", "fr"} {
		mustPut(t, s, variant("/v", lang, 1<<10, "X-Lang"))
	}
	mustPut(t, s, variant("/w", "de", 1<<10, "X-Lang"))
	want := []string{"disk /v\x00de", "disk /v\x00fr"}
	for range 3 {
		if got := variantsOf(s, "/v"); !slices.Equal(got, want) {
			t.Fatalf("on the disk: got %q, want %q", got, want)
		}
	}
	for _, url := range []string{"/a", "/none"} {
		if got := variantsOf(s, url); got != nil {
			t.Errorf("%s: got %q, want nothing", url, got)
		}
	}

	s = newStoreOf(t, usualOptions())
	for _, lang := range []string{"de", "fr"} {
		mustPut(t, s, variant("/v", lang, 1<<10, "X-Lang"))
	}
	mustPut(t, s, variant("/w", "de", 1<<10, "X-Lang"))
	want = []string{"memory /v\x00de", "memory /v\x00fr"}
	if got := variantsOf(s, "/v"); !slices.Equal(got, want) {
		t.Errorf("in memory: got %q, want %q", got, want)
	}
	for _, p := range s.PeekVariants(sum("/v"), []byte("/v")) {
		if p.Object.asked() || p.Object.uses() != 0 {
			t.Errorf("%s: it was used by a look that leaves no trace", p.Object.Name())
		}
	}
}

func TestPeekOnDiskIsNoHit(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	mustPut(t, s, plain("/a", 7, 1<<10))
	mustPut(t, s, variant("/v", "de", 1<<10, "X-Lang"))
	f := func(when string) {
		before := d.Stats()
		for range 20 { // often enough to bring it to memory
			o, place := s.Peek(sum("/a"), []byte("/a"))
			if o == nil || place != OnDisk || string(contentBytes(t, o)) != string(body(7, 1<<10)) {
				t.Fatalf("%s: got %v in %q, want it from the disk", when, o, place)
			}
			s.Release(o)
		}
		if o, _ := s.Peek(sum("/none"), []byte("/none")); o != nil || s.PeekVary(sum("/none"), []byte("/none")).Len() > 0 {
			t.Errorf("%s: got %v of what was never put", when, o)
		}
		if o, _ := s.Peek(sum("/v"), []byte("/v")); o != nil || s.PeekVary(sum("/v"), []byte("/v")).Len() != 1 {
			t.Errorf("%s: a URL that varies: got %v, and not its list", when, o)
		}
		after := d.Stats()
		if after.Hits != before.Hits || after.MemoryHits != before.MemoryHits || after.Misses != before.Misses {
			t.Errorf("%s: got %d hits, %d hits of the queue and %d misses more, want none", when, after.Hits-before.Hits, after.MemoryHits-before.MemoryHits, after.Misses-before.Misses)
		}
	}
	f("waiting")
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	f("written")
	if c := s.Stats(); c.Objects != 0 {
		t.Errorf("got %d objects in memory, want none", c.Objects)
	}
}

func TestPeekInStage(t *testing.T) {
	s := newStoreOf(t, usualOptions())
	if got := s.PutStage(plain("/a", 1, 1<<10), nil); got != Stored {
		t.Fatalf("PutStage: got %v, want stored", got)
	}
	if o, place := s.Peek(sum("/a"), []byte("/a")); o == nil || place != InStage || o.asked() {
		t.Errorf("got %v in %q, want it unasked in the stage", o, place)
	}
}
