package cache

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/test/testkit"
)

// varying returns a variant of /v that varies by these names, with a value that says which.
func varying(value string, names ...string) *Entry {
	return variant("/v", strings.Join(names, ",")+"="+value, 100, names...)
}

// valuesOf returns what lookUp finds e by, an entry of /v.
func valuesOf(e *Entry) string {
	_, values, _ := strings.Cut(string(e.Name), "\x00")
	return values
}

// lost returns which of all are neither in memory nor on the disk.
func lost(s *Store, all []*Entry) (names []string) {
	for _, e := range all {
		o, _ := lookUp(s, "/v", valuesOf(e))
		if o == nil || string(o.Name()) != string(e.Name) {
			names = append(names, string(e.Name))
		}
		if o != nil {
			s.Release(o)
		}
	}
	return names
}

// shapes are URLs of which not all responses vary by the same names.
func shapes() map[string][]*Entry {
	var prefix, crossing, alternating []*Entry
	for i := range 10 {
		prefix = append(prefix, varying(fmt.Sprint(i), "Accept-Language"))
		crossing = append(crossing, varying(fmt.Sprint(i), "Accept", "Accept-Language"), varying(fmt.Sprint(i), "Accept-Language", "Origin"))
		alternating = append(alternating, varying(fmt.Sprint(i), "X-Mode", "X-One"), varying(fmt.Sprint(i), "X-Mode", "X-Two"))
	}
	prefix = append(prefix, varying("o", "Accept-Language", "Origin"))
	none := append(slices.Clone(prefix), plain("/v", 1, 100))
	return map[string][]*Entry{"a prefix": prefix, "crossing": crossing, "alternating": alternating, "and none": none}
}

// Ten languages of a URL were stored, and one response that varied by Origin as well threw them all out.
func TestAResponseByOtherNamesThrewAllOthersOut(t *testing.T) {
	for name, all := range shapes() {
		t.Run(name, func(t *testing.T) {
			o := usualOptions()
			o.MaxVariants = 32
			check := func(s *Store, where string, stored func() int64) {
				t.Helper()
				for range 3 {
					for _, e := range all {
						mustPut(t, s, e)
					}
				}
				if got := lost(s, all); got != nil {
					t.Errorf("%s: lost %q of %d", where, got, len(all))
				}
				if st := s.Stats(); st.Variants+st.Disk.Variants != 0 || stored() != 3*int64(len(all)) {
					t.Errorf("%s: got %d evicted, %d writes; want none and %d", where, st.Variants+st.Disk.Variants, stored(), 3*len(all))
				}
			}
			inMemory := newStoreOf(t, o)
			check(inMemory, "in memory", func() int64 { return inMemory.Stats().Writes })
			d := newDisk(t, "")
			t.Cleanup(d.Close)
			o.Disk = d
			onDisk, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			check(onDisk, "on the disk", func() int64 { return onDisk.Stats().Disk.Writes })
			onDisk.Close()
			if got := lost(newStoreOf(t, o), all); got != nil { // which knows nothing but the disk
				t.Errorf("after a restart: lost %q of %d", got, len(all))
			}
		})
	}
}

// One response too many, by names or by lists, is refused, and costs those that are stored nothing.
func TestMoreNamesThanAURLMayVaryBy(t *testing.T) {
	names := []string{"A", "B", "C", "D", "E", "F", "G", "H", "I"}
	f := func(name string, stored []*Entry, refused *Entry) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			onDisk, _ := newStoreOnDisk(t, usualOptions())
			for where, s := range map[string]*Store{"memory": newStoreOf(t, usualOptions()), "disk": onDisk} {
				for _, e := range stored {
					mustPut(t, s, e)
				}
				before := s.Stats()
				if s.TakesVary(refused) {
					t.Errorf("%s: TakesVary: got true", where)
				}
				if got := s.Put(refused, nil); got != VaryLimit {
					t.Errorf("%s: got %v, want %v", where, got, VaryLimit)
				}
				if got := s.PutStage(refused, nil); got != VaryLimit {
					t.Errorf("%s: staged: got %v, want %v", where, got, VaryLimit)
				}
				if after := s.Stats(); after.TierStats != before.TierStats || after.Disk.Writes != before.Disk.Writes || after.Stage != before.Stage {
					t.Errorf("%s: got %+v, want it unchanged %+v", where, after, before)
				}
				if got := lost(s, stored); got != nil {
					t.Errorf("%s: lost %q", where, got)
				}
				for _, e := range stored {
					if !s.TakesVary(e) {
						t.Errorf("%s: %q: what is stored cannot be renewed", where, e.Name)
					}
				}
			}
		})
	}
	useful := func(e *Entry) *Entry {
		e.ResponseTime, e.Policy.Lifetime = time.Unix(1_800_000_000, 0), time.Hour
		return e
	}
	f("nine names", nil, varying("1", names...))
	f("a ninth name", []*Entry{useful(varying("1", names[:7]...)), useful(varying("1", "H"))}, useful(varying("1", "I")))
	f("a list that crosses", []*Entry{useful(varying("1", names[:5]...))}, useful(varying("1", names[4:]...)))
	var lists []*Entry
	for i := range mostLists {
		lists = append(lists, useful(varying("1", names[i])))
	}
	f("a ninth list", lists, useful(varying("1", "A", "B")))
}

// A list of names makes room for another when nothing that is stored by it can be used any more, or nothing is. That is how a site
// changes what it varies by.
func TestAListOfNoUseMakesRoomForAnother(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	old := []string{"A", "B", "C", "D", "E"}
	f := func(name string, want Outcome, evicted int64, after time.Duration, meanwhile func(s *Store, e *Entry)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := newStoreOf(t, usualOptions())
			e := varying("1", old...)
			e.Serial, e.ResponseTime, e.Policy.Lifetime, e.Policy.Keep = 1, at, time.Minute, time.Minute
			mustPut(t, s, e)
			meanwhile(s, e)
			next := varying("1", "F", "G", "H", "I")
			next.ResponseTime = at.Add(after)
			if got := s.TakesVary(next); got != (want == Stored) {
				t.Errorf("TakesVary: got %v", got)
			}
			if got := s.Put(next, nil); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := s.Stats().Variants + s.Stats().Replaced; got != evicted {
				t.Errorf("got %d gone, want %d", got, evicted)
			}
			if got := len(listsOf(s, "/v")); got != 1 {
				t.Errorf("got %d lists, want 1", got)
			}
			checkBounds(t, s)
		})
	}
	nothing := func(*Store, *Entry) {}
	f("it is fresh", VaryLimit, 0, 30*time.Second, nothing)
	f("it is kept to be validated", VaryLimit, 0, 119*time.Second, nothing)
	f("it is of no use", Stored, 1, 122*time.Second, nothing)
	f("it was renewed", VaryLimit, 0, 122*time.Second, func(s *Store, e *Entry) {
		renewed := *e
		renewed.Serial, renewed.ResponseTime = 2, at.Add(time.Minute)
		if !s.Renew(&renewed, 1, nil) {
			t.Error("not renewed")
		}
	})
	f("it has left", Stored, 0, 30*time.Second, func(s *Store, e *Entry) {
		s.mu.Lock()
		s.removeLocked(e.Key, []byte("/v"), capacity) // what an eviction would do
		s.mu.Unlock()
	})
}

// Who can have the origin answer by ever other names gets no more lists than a URL may have, and evicts nothing of the others.
func TestEverOtherNamesWipedNothing(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	f := func(name string, s *Store) {
		t.Run(name, func(t *testing.T) {
			var all []*Entry
			for i := range 5 {
				e := varying(fmt.Sprint(i), "Accept-Language")
				e.ResponseTime, e.Policy.Lifetime = at, time.Hour
				mustPut(t, s, e)
				all = append(all, e)
			}
			refused := 0
			for i := range 1000 {
				e := varying("x", fmt.Sprintf("X-%03d", i), fmt.Sprintf("X-%03d-%s", i, strings.Repeat("long", i%50)))
				e.ResponseTime, e.Policy.Lifetime = at, time.Hour
				if s.Put(e, nil) == VaryLimit {
					refused++
				}
				s.PutStage(e, nil)
			}
			if got := lost(s, all); got != nil {
				t.Errorf("lost %q", got)
			}
			if got := s.Vary(sum("/v"), []byte("/v")).Len(); got > 2*mostLists || refused != 1000-3 {
				t.Errorf("got %d lists, and %d refused, want all but 3", got, refused)
			}
			checkBounds(t, s)
		})
	}
	f("in memory", newStoreOf(t, usualOptions()))
	onDisk, _ := newStoreOnDisk(t, usualOptions())
	f("on the disk", onDisk)
}

// limits.variants is for the variants of a URL by all of its lists together, and made-up ones evict each other.
func TestVariantsByAllListsAreBoundedTogether(t *testing.T) {
	f := func(name string, s *Store, evicted func(Stats) int64) {
		t.Run(name, func(t *testing.T) {
			used := []*Entry{varying("1", "A"), varying("1", "A", "B")}
			mustPut(t, s, used[0])
			mustPut(t, s, used[1])
			if s.disk != nil { // hits of records that are not written yet do not count
				if err := s.disk.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			for range 4 {
				for _, e := range used {
					o, _ := lookUp(s, "/v", valuesOf(e))
					s.Keep(o, never)
					s.Release(o)
				}
			}
			for i := range 50 {
				mustPut(t, s, varying(fmt.Sprint("odd", i), [][]string{{"A"}, {"A", "B"}, {"C"}}[i%3]...))
			}
			if got := lost(s, used); got != nil {
				t.Errorf("lost %q, which others ask for", got)
			}
			if got, want := evicted(s.Stats()), int64(52-usualOptions().MaxVariants); got != want {
				t.Errorf("got %d evicted for too many variants, want %d", got, want)
			}
		})
	}
	f("in memory", newStoreOf(t, usualOptions()), func(st Stats) int64 { return st.Variants })
	onDisk, _ := newStoreOnDisk(t, usualOptions())
	f("on the disk", onDisk, func(st Stats) int64 { return st.Disk.Variants })
}

// putOldMarker puts the marker of /v as earlier versions did: with one list, under the name of the URL.
func putOldMarker(t *testing.T, s *Store, names []string, all []*Entry) {
	t.Helper()
	url := []byte("/v")
	block, err := s.disk.blockOf(&Entry{Key: sum("/v"), URL: sum("/v"), Name: url, URLLen: 2, Vary: names})
	if err != nil {
		t.Fatal(err)
	}
	var v diskVariants
	for _, e := range all {
		v.all = append(v.all, diskVariant{hash: s.disk.hash(e.Name), key: e.Key})
	}
	s.disk.Remove(s.disk.markerHash(url))
	if err = s.disk.Put(s.disk.hash(url), url, block, v.appendList(nil)); err != nil {
		t.Fatal(err)
	}
}

// What an earlier version has written is found, and stays when more comes.
func TestMarkersOfAnEarlierVersion(t *testing.T) {
	f := func(name string, next *Entry) {
		t.Run(name, func(t *testing.T) {
			s, d := newStoreOnDisk(t, usualOptions())
			all := []*Entry{varying("1", "A"), varying("2", "A")}
			for _, e := range all {
				mustPut(t, s, e)
			}
			putOldMarker(t, s, []string{"A"}, all)
			o := usualOptions()
			o.Disk = d
			s = newStoreOf(t, o)
			if next != nil {
				if l := s.PeekVary(sum("/v"), []byte("/v")); l.Len() != 1 || l.At(0)[0] != "A" {
					t.Errorf("PeekVary: got %v, want A", l)
				}
				if len(next.Vary) == 0 { // it takes the marker's place, so memory has to know what that says
					if _, vary := s.Load(sum("/v"), []byte("/v")); vary.Len() != 1 {
						t.Errorf("Load: got %d lists, want 1", vary.Len())
					}
				}
				mustPut(t, s, next)
				all = append(all, next)
				s = newStoreOf(t, o)
			} else if _, vary := s.Load(sum("/v"), []byte("/v")); vary.Len() != 1 || vary.At(0)[0] != "A" {
				t.Errorf("Load: got %v, want A", vary)
			}
			if got := lost(s, all); got != nil {
				t.Errorf("lost %q", got)
			}
		})
	}
	f("alone", nil)
	f("one more variant", varying("3", "A"))
	f("by other names", varying("1", "B"))
	f("without Vary", plain("/v", 1, 100))
}

// blind is a disk that does not find one record, as one that is too slow to read it.
type blind struct {
	Disk
	to uint64
}

func (b *blind) Find(h uint64, key []byte, hit *disk.Hit) bool {
	return h != b.to && b.Disk.Find(h, key, hit)
}

// A marker that could not be read in time was written anew, with a single list: the variants by other names were lost.
func TestAMarkerThatWasNotReadIsNotLost(t *testing.T) {
	d := newDisk(t, "")
	t.Cleanup(d.Close)
	o := usualOptions()
	o.Disk = d
	all := []*Entry{varying("1", "A"), varying("1", "A", "B")}
	s := newStoreOf(t, o)
	for _, e := range all {
		mustPut(t, s, e)
	}
	b := &blind{Disk: d, to: s.disk.markerHash([]byte("/v"))}
	o.Disk = b
	s = newStoreOf(t, o)
	if got := s.Put(varying("1", "C"), nil); got != DiskBusy {
		t.Errorf("got %v, want %v", got, DiskBusy)
	}
	b.to = 0
	if got := lost(s, all); got != nil {
		t.Errorf("lost %q", got)
	}
	mustPut(t, s, varying("1", "C"))
}

func TestLookingUpListsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	s := newStoreOf(t, usualOptions())
	mustPut(t, s, varying("1", "A"))
	mustPut(t, s, varying("1", "A", "B"))
	mustStage(t, s, varying("1", "C"))
	name, url := []byte("/v"), sum("/v")
	if n := testing.AllocsPerRun(1000, func() {
		l := s.Vary(url, name)
		for i := range l.Len() {
			if len(l.At(i)) == 0 {
				t.Fatal("got an empty list")
			}
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	known := varying("2", "A", "B")
	if n := testing.AllocsPerRun(1000, func() { s.TakesVary(known) }); n != 0 {
		t.Errorf("TakesVary: got %v allocations, want 0", n)
	}
}
