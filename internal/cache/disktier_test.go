package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

// newDisk returns a disk in a directory of its own, or in path.
func newDisk(tb testing.TB, path string) *disk.Store {
	tb.Helper()
	if path == "" {
		path = tb.TempDir()
	}
	d, err := disk.Open(disk.Options{
		Path: path, MaxBytes: disk.MinBytes,
		ReadWait: testkit.Patience, ReadDeadline: testkit.Patience, Deadline: testkit.Patience, // a machine that does much else is no slow device
	})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// newStoreOnDisk returns a Store with a disk, both closed when the test ends.
func newStoreOnDisk(tb testing.TB, o Options) (*Store, *disk.Store) {
	tb.Helper()
	d := newDisk(tb, "")
	tb.Cleanup(d.Close)
	o.Disk = d
	return newStoreOf(tb, o), d
}

func usualOptions() Options {
	return Options{MaxBytes: 1 << 20, MaxObjectBytes: 128 << 10, MaxVariants: 8, StageBytes: 128 << 10}
}

// lookUp looks for url in memory and on the disk, as a request does that selects by values.
func lookUp(s *Store, url, values string) (o *Object, loaded bool) {
	lists := s.Vary(sum(url), []byte(url))
	if lists.Len() == 0 {
		lists = s.LoadVary(sum(url), []byte(url))
	}
	names := []string{url}
	if lists.Len() > 0 {
		names = []string{url + "\x00" + values, url}
	}
	for _, name := range names {
		if o, _ = s.Find(sum(name), []byte(name)); o != nil {
			return o, false
		}
		if o, _ = s.Load(sum(name), []byte(name)); o != nil {
			return o, true
		}
	}
	return nil, false
}

// contentBytes returns the content of o, wherever it is.
func contentBytes(tb testing.TB, o *Object) []byte {
	tb.Helper()
	b := make([]byte, o.Content().Size())
	if n, err := o.Content().ReadAt(b, 0); n != len(b) {
		tb.Fatalf("%s: read %d of %d bytes: %v", o.Name(), n, len(b), err)
	}
	return b
}

func never() bool { return false }

func TestWhatIsAdmittedGoesToTheDisk(t *testing.T) {
	f := func(name string, size int) {
		t.Run(name, func(t *testing.T) {
			s, _ := newStoreOnDisk(t, usualOptions())
			e := plain("/a", 7, size)
			e.Header = field.List{{Name: "Etag", Value: `"1"`}}
			e.ResponseTime, e.Policy.Lifetime, e.Serial, e.Born = time.Unix(1_800_000_000, 5), time.Hour, 3, 2
			mustPut(t, s, e)
			if st := s.Stats(); st.Objects != 0 || st.Writes != 0 {
				t.Errorf("got %d objects and %d writes in memory, want none", st.Objects, st.Writes)
			}
			if holds(s, "/a") || !s.OnDisk([]byte("/a")) {
				t.Error("it is in memory, or not on the disk")
			}
			o, loaded := lookUp(s, "/a", "")
			if !loaded {
				t.Fatal("it is not found")
			}
			defer s.Release(o)
			if !bytes.Equal(contentBytes(t, o), body(7, size)) {
				t.Error("got another content")
			}
			if o.Serial() != 3 || o.Born() != 2 || o.Lifetime() != time.Hour || !o.ResponseTime().Equal(e.ResponseTime) || first(o) != e.Header[0] {
				t.Errorf("got %+v", o.Entry())
			}
		})
	}
	f("empty", 8)
	f("small", 4000)
	f("on pages", 40<<10)
	f("read by offset", 100<<10)
}

// The marker tells of variants by several lists, and a response without Vary lies beside them.
func TestVariantsOnDiskAreFoundByTheirMarker(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	check := func(values string, want bool) {
		t.Helper()
		if o, _ := lookUp(s, "/v", values); (o != nil) != want {
			t.Errorf("%q: found %v, want %v", values, o != nil, want)
		}
	}
	forget := func() { // another process knows nothing of it
		t.Helper()
		s = newStoreOf(t, func() Options { o := usualOptions(); o.Disk = d; return o }())
	}
	mustPut(t, s, variant("/v", "en", 100, "Accept-Language"))
	mustPut(t, s, variant("/v", "de", 50<<10, "Accept-Language"))
	check("en", true)
	check("de", true)
	check("fr", false)
	forget()
	check("de", true)
	if lists := listsOf(s, "/v"); !slices.Equal(lists, []string{"Accept-Language"}) {
		t.Errorf("memory has not learned what the URL varies by: got %q", lists)
	}
	check("en", true)
	mustPut(t, s, plain("/v", 1, 100))
	mustPut(t, s, variant("/v", "gzip", 100, "Accept-Encoding"))
	for _, when := range []string{"as it was stored", "in the next process"} {
		for _, values := range []string{"en", "de", "gzip"} {
			if o, _ := lookUp(s, "/v", values); o == nil || !o.Varies() {
				t.Errorf("%s, %s: found %v, want the variant", when, values, o != nil)
			}
		}
		if o, _ := lookUp(s, "/v", "fr"); o == nil || o.Varies() {
			t.Errorf("%s: the response without Vary is not found", when)
		}
		forget()
	}
	check("gzip", true)
	if n := s.Purge(sum("/v"), []byte("/v")); n != 4 {
		t.Errorf("got %d purged, want 4", n)
	}
	for _, values := range []string{"en", "de", "gzip", "fr"} {
		check(values, false)
	}
}

// What is asked for twice is in memory then, and the disk keeps it.
func TestASecondHitOnDiskBringsACopyToMemory(t *testing.T) {
	f := func(name string, size int, fill int, want bool) {
		t.Run(name, func(t *testing.T) {
			s, _ := newStoreOnDisk(t, usualOptions())
			mustPut(t, s, plain("/a", 1, size))
			ask := func(url string) bool {
				o, loaded := lookUp(s, url, "")
				if !loaded {
					t.Fatalf("%s is not on the disk", url)
				}
				defer s.Release(o)
				return s.Keep(o, never) != nil
			}
			if ask("/a") {
				t.Error("kept at the first hit")
			}
			place := func(url string) uint64 { return s.disk.hash([]byte(url)) % uint64(len(s.disk.recentHits.places)) }
			for i, filled := 0, 0; filled < fill; i++ {
				url := fmt.Sprintf("/fill/%d", i)
				if place(url) == place("/a") { // one in a thousand, by the seed: it would overwrite the hit of /a
					continue
				}
				mustPut(t, s, plain(url, 1, 100))
				ask(url)
				filled++
			}
			if got := ask("/a"); got != want {
				t.Errorf("kept at the second hit: got %v, want %v", got, want)
			}
			o, tier := findIn(s, sum("/a"), []byte("/a"))
			if (tier == Memory) != want || want && !bytes.Equal(contentBytes(t, o), body(1, size)) {
				t.Errorf("got it in %v", tier)
			}
			if !s.OnDisk([]byte("/a")) {
				t.Error("the disk has it no more")
			}
		})
	}
	f("small", 1000, 0, true)
	f("long", 100<<10, 10, true)
	f("too long ago", 1000, 600, false)
}

// A copy is not made of what has been replaced, purged or is purged at that moment.
func TestNoCopyOfWhatHasGoneMeanwhile(t *testing.T) {
	f := func(name string, want bool, meanwhile func(s *Store) (unless func() bool)) {
		t.Run(name, func(t *testing.T) {
			s, _ := newStoreOnDisk(t, usualOptions())
			mustPut(t, s, plain("/a", 1, 100))
			_, _ = lookUp(s, "/a", "")
			o, _ := lookUp(s, "/a", "")
			if got := s.Keep(o, meanwhile(s)) != nil; got != want {
				t.Errorf("got kept %v, want %v", got, want)
			}
			if got := holds(s, "/a"); got != want {
				t.Errorf("memory holds it: got %v, want %v", got, want)
			}
		})
	}
	f("nothing", true, func(*Store) func() bool { return never })
	f("purged now", false, func(*Store) func() bool {
		return func() bool { return true }
	})
	f("purged", false, func(s *Store) func() bool { s.Purge(sum("/a"), []byte("/a")); return never })
	f("replaced", false, func(s *Store) func() bool { mustPut(t, s, plain("/a", 2, 100)); return never })
	f("a marker written", false, func(s *Store) func() bool {
		mustPut(t, s, variant("/a", "x", 100, "X"))
		return never
	})
	f("discarded", false, func(s *Store) func() bool {
		o, _ := lookUp(s, "/a", "")
		s.Discard(o)
		return never
	})
}

// What replaces a copy in memory leaves none behind.
func TestWhatIsPutAgainReplacesTheCopyInMemory(t *testing.T) {
	s, _ := newStoreOnDisk(t, usualOptions())
	mustPut(t, s, plain("/a", 1, 100))
	for range 2 {
		o, _ := lookUp(s, "/a", "")
		s.Keep(o, never)
	}
	if !holds(s, "/a") {
		t.Fatal("there is no copy")
	}
	mustPut(t, s, plain("/a", 2, 100))
	if o, _ := lookUp(s, "/a", ""); versionOf(o) != 2 {
		t.Errorf("got version %d", versionOf(o))
	}
	if st := s.Stats(); st.Replaced != 1 || st.Objects != 0 {
		t.Errorf("got %+v", st.TierStats)
	}
}

func TestAStagedEntryIsPromotedToTheDisk(t *testing.T) {
	s, _ := newStoreOnDisk(t, usualOptions())
	if got := s.PutStage(plain("/a", 1, 100), nil); got != Stored {
		t.Fatalf("got %v", got)
	}
	if s.OnDisk([]byte("/a")) {
		t.Error("a first sighting is on the disk")
	}
	if !s.Promote(sum("/a"), []byte("/a"), 0) || s.Promote(sum("/a"), []byte("/a"), 0) {
		t.Error("want one promotion")
	}
	if o, loaded := lookUp(s, "/a", ""); !loaded || versionOf(o) != 1 {
		t.Errorf("it is not on the disk: got %v", o)
	}
	if st := s.Stats(); st.Stage.Promoted != 1 || st.Objects != 0 || st.Stage.Objects != 0 {
		t.Errorf("got %+v", st)
	}
	if got := s.PutStage(plain("/a", 2, 100), nil); got != Superseded {
		t.Errorf("held back beside the disk: got %v", got)
	}
}

// Discard removes the response it is about, and none that has come in its place.
func TestDiscardLeavesWhatIsNewerOnDisk(t *testing.T) {
	s, _ := newStoreOnDisk(t, usualOptions())
	put := func(version uint64) *Object {
		e := plain("/a", version, 100)
		e.Serial = version
		mustPut(t, s, e)
		o, _ := lookUp(s, "/a", "")
		return o
	}
	old := put(1)
	latest := put(2)
	if s.Discard(old) {
		t.Error("the old one was discarded twice")
	}
	if o, _ := lookUp(s, "/a", ""); o == nil || o.Serial() != 2 {
		t.Errorf("got %v", o)
	}
	if !s.Discard(latest) || s.Discard(latest) {
		t.Error("want one departure")
	}
	if o, _ := lookUp(s, "/a", ""); o != nil {
		t.Error("it is still found")
	}
}

// What was stored while other purges were known is not found.
func TestOtherStampsAreNotFound(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	s.Stamped(Stamp{1, 2, 3}, func(st Stamp) bool { return st == Stamp{1, 2, 3} })
	mustPut(t, s, plain("/a", 1, 100))
	mustPut(t, s, plain("/b", 1, 100))
	if o, _ := lookUp(s, "/a", ""); o == nil {
		t.Error("it is not found")
	}
	o := usualOptions()
	o.Disk = d
	s = newStoreOf(t, o)
	s.Stamped(Stamp{9, 2, 3}, func(st Stamp) bool { return st[0] == 9 })
	if o, _ := lookUp(s, "/a", ""); o != nil {
		t.Error("it is found")
	}
	if s.OnDisk([]byte("/a")) || !s.OnDisk([]byte("/b")) {
		t.Error("want what was found to be gone, and nothing else")
	}
}

// Without a place on the disk the store says so, and memory takes the place of a disk that is out of use.
func TestRefusalsOfTheDisk(t *testing.T) {
	f := func(name string, err error, held bool, want Outcome, found uint64) {
		t.Run(name, func(t *testing.T) {
			o := usualOptions()
			r := &refusing{Disk: newDisk(t, "")}
			t.Cleanup(r.Disk.(*disk.Store).Close)
			o.Disk = r
			s := newStoreOf(t, o)
			mustPut(t, s, plain("/a", 1, 100))
			if held {
				for range 2 {
					o, _ := lookUp(s, "/a", "")
					s.Keep(o, never)
				}
			}
			r.err = err
			if got := s.Put(plain("/a", 2, 100), nil); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			got, _ := lookUp(s, "/a", "")
			if (got != nil) != (found != 0) || got != nil && versionOf(got) != found {
				t.Errorf("got %v, want version %d", got, found)
			}
		})
	}
	f("busy", disk.ErrBusy, false, DiskBusy, 0)
	f("rate", disk.ErrRate, false, OverRate, 0)
	f("too large", disk.ErrTooLarge, false, TooLarge, 0)
	f("busy, in demand", disk.ErrBusy, true, InDemand, 2)
	f("off", disk.ErrOff, false, Stored, 2)
	f("read-only", disk.ErrReadOnly, true, Stored, 2)
}

// refusing is a disk that takes nothing while it has err.
type refusing struct {
	Disk
	err error
}

func (r *refusing) Put(h uint64, key, block, body []byte) error {
	if r.err != nil {
		r.Remove(h)
		return r.err
	}
	return r.Disk.Put(h, key, block, body)
}

// While the disk was out of use, Put asked unless twice: before the disk refused, and again before the response landed in
// memory. A write could happen in between.
func TestPutAsksUnlessOnceWhateverTheDiskSays(t *testing.T) {
	for _, err := range []error{nil, disk.ErrOff, disk.ErrReadOnly, disk.ErrBusy, disk.ErrRate, disk.ErrTooLarge, errMarkerLost} {
		for _, inDemand := range []bool{false, true} {
			for _, purged := range []bool{false, true} {
				r := &refusing{Disk: newDisk(t, "")}
				t.Cleanup(r.Disk.(*disk.Store).Close)
				o := usualOptions()
				o.Disk = r
				s := newStoreOf(t, o)
				r.err = disk.ErrOff
				if inDemand {
					mustPut(t, s, plain("/a", 1, 100))
				}
				r.err = err
				asked := 0
				got := s.Put(plain("/a", 2, 100), func() bool { asked++; return purged })
				if asked != 1 || purged != (got == Purged) {
					t.Errorf("%v, in demand %v, purged %v: got %v, asked %d times, want once", err, inDemand, purged, got, asked)
				}
			}
		}
	}
}

// A body that only the disk takes went to memory if the disk was busy and memory had a copy under the key. If it was
// longer than the window, Put never returned.
func TestABodyTooLongForMemoryDoesNotGoThereWhenTheDiskIsBusy(t *testing.T) {
	r := &refusing{Disk: newDisk(t, "")}
	t.Cleanup(r.Disk.(*disk.Store).Close)
	o := usualOptions()
	o.Disk, o.MaxDiskObjectBytes = r, 1<<20
	s := newStoreOf(t, o)
	r.err = disk.ErrOff
	mustPut(t, s, plain("/a", 1, 100))
	f := func(err error, want Outcome, held bool) {
		t.Helper()
		r.err = err
		if got := s.Put(plain("/a", 2, 512<<10), nil); got != want || holds(s, "/a") != held {
			t.Errorf("%v: got %v, an older one is held: %v, want %v, %v", err, got, holds(s, "/a"), want, held)
		}
	}
	f(disk.ErrOff, TooLarge, true)
	f(disk.ErrBusy, DiskBusy, false)
}

// TestDiskAgainstModel does what comes in any order, and holds each look-up to a plain account: it finds the latest
// version, or nothing where that may be. Another process now and then knows nothing but the disk.
func TestDiskAgainstModel(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s, d := newStoreOnDisk(t, usualOptions())
		r := &diskRun{t: t, s: s, plain: map[string]uint64{}, variants: map[string]map[string]uint64{}}
		for step := range uint64(6000) {
			r.step(rng, step+1)
			if rng.IntN(1000) == 0 && step < 5000 { // so that the last of them has done something
				o := usualOptions()
				o.Disk = d
				r.s = newStoreOf(t, o)
				r.staged = nil
			}
		}
		r.checkBooks()
	}
}

type diskRun struct {
	t        *testing.T
	s        *Store
	plain    map[string]uint64            // the version of what a URL has without Vary
	variants map[string]map[string]uint64 // hash of each variant under each field
	staged   map[string]uint64
}

func (r *diskRun) step(rng *rand.Rand, version uint64) {
	url := fmt.Sprintf("/%d", rng.IntN(40))
	field, value := []string{"A", "B"}[rng.IntN(2)], fmt.Sprint(rng.IntN(3))
	size := 8 + rng.IntN(3000)
	if rng.IntN(20) == 0 {
		size = rng.IntN(120 << 10)
	}
	switch op := rng.IntN(20); {
	case op < 3:
		mustPut(r.t, r.s, plain(url, version, size))
		r.plain[url] = version
	case op < 6:
		e := variant(url, field+value, size, field)
		e.Content = InMemory(body(version, size))
		mustPut(r.t, r.s, e)
		if r.variants[url] == nil {
			r.variants[url] = map[string]uint64{}
		}
		r.variants[url][field+value] = version
	case op < 7:
		r.s.Purge(sum(url), []byte(url))
		delete(r.plain, url)
		delete(r.variants, url)
	default:
		r.look(url, field+value)
	}
}

func (r *diskRun) look(url, value string) {
	o, loaded := lookUp(r.s, url, value)
	want := r.plain[url]
	if of := r.variants[url][value]; of != 0 {
		want = of
	}
	switch {
	case o == nil && want != 0:
		r.t.Fatalf("%s %s: not found, want version %d", url, value, want)
	case o == nil:
		return
	case o.Varies() && r.variants[url][value] == 0: // its own Vary has selected it, and its marker has come back
		return
	}
	b := contentBytes(r.t, o)
	if got := versionOf(NewObject(&Entry{Content: InMemory(b)})); got != want || !bytes.Equal(b, body(want, len(b))) {
		r.t.Fatalf("%s %s: got version %d, want %d", url, value, got, want)
	}
	if loaded {
		r.s.Keep(o, never)
		r.s.Release(o)
	}
}

func (r *diskRun) checkBooks() {
	st := r.s.Stats()
	if gone := st.Capacity + st.Rejected + st.Variants + st.Replaced + st.Purged; st.Writes != st.Objects+gone {
		r.t.Errorf("memory: got %d writes of %d objects and %d gone", st.Writes, st.Objects, gone)
	}
	if st.Writes == 0 || st.Replaced == 0 {
		r.t.Errorf("nothing was ever in memory: got %+v", st.TierStats)
	}
	if r.s.Bytes() > r.s.limits.maxBytes {
		r.t.Errorf("got %d bytes", r.s.Bytes())
	}
}
