package cache

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk"
)

// variantsOnDisk returns how many records of /v the disk has, without its marker.
func variantsOnDisk(t *testing.T, d *disk.Store) (n int) {
	t.Helper()
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := d.Each(func(i *disk.Item) bool {
		if e, err := RecordEntry(i.Block); err == nil && !e.isMarker() && string(e.urlName()) == "/v" {
			n++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// attack stores so many variants of /v that a client has made up within a minute, and asks for each once more.
func attack(t *testing.T, s *Store, from, count, size int, at time.Time) {
	t.Helper()
	for i := range count {
		values := fmt.Sprint("made-up-", from+i)
		e := variant("/v", values, size, "User-Agent")
		e.ResponseTime = at
		mustPut(t, s, e)
		if o, _ := lookUp(s, "/v", values); o == nil {
			t.Fatalf("%s is not found when it has just been stored", values)
		}
	}
}

// Nothing bounded the variants of a URL on the disk: a client that varied a field of Vary filled it with them. The bound holds, also after a
// restart, and those that others ask for stay.
func TestMadeUpVariantsTakeNoMorePlacesOnTheDiskThanTheyMay(t *testing.T) {
	f := func(name string, size int) {
		t.Run(name, func(t *testing.T) {
			path, o, at := t.TempDir(), usualOptions(), time.Unix(1_800_000_000, 0)
			start := func() (*Store, *disk.Store) {
				d := newDisk(t, path)
				o.Disk = d
				s, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				return s, d
			}
			check := func(s *Store, d *disk.Store, when string) {
				t.Helper()
				if n := variantsOnDisk(t, d); n > o.MaxVariants {
					t.Errorf("%s: got %d variants on the disk, want at most %d", when, n, o.MaxVariants)
				}
				for _, values := range []string{"curl", "firefox", "safari"} {
					if o, _ := lookUp(s, "/v", values); o == nil {
						t.Errorf("%s: %s was pushed out by variants that nobody else asks for", when, values)
					} else {
						s.Release(o)
					}
				}
				checkBounds(t, s)
			}
			use := func(s *Store, d *disk.Store) {
				t.Helper()
				for _, values := range []string{"curl", "firefox", "safari"} {
					for range 4 {
						o, loaded := lookUp(s, "/v", values)
						if o == nil {
							t.Fatalf("%s is not found: %v, %d variants, %+v", values, d.Err(), variantsOnDisk(t, d), d.Stats())
						}
						if loaded {
							s.Keep(o, never)
						}
						s.Release(o)
					}
				}
			}
			s, d := start()
			for _, values := range []string{"curl", "firefox", "safari"} {
				mustPut(t, s, variant("/v", values, size, "User-Agent"))
			}
			if err := d.Flush(); err != nil { // hits of records that are not written yet do not count
				t.Fatal(err)
			}
			use(s, d)
			attack(t, s, 0, 300, size, at)
			check(s, d, "after the attack")
			if st := s.Stats().Disk; st.Variants == 0 {
				t.Errorf("got no evictions of variants in %+v", st)
			}
			s.Close()
			d.Close()
			s, d = start()
			until(t, d)
			use(s, d) // they come back as well
			attack(t, s, 1000, 300, size, at)
			check(s, d, "after a restart")
			s.Close()
			d.Close()
		})
	}
	f("small", 2000)
	f("large", 40<<10)
}

// A disk that kept up with a client that made variants up was filled by those that had left. Then it evicted what nobody had asked for meanwhile,
// and after a restart the URL's other variants were not found.
func TestMadeUpVariantsThatWereWrittenEvictedOthers(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	others, asked := []*Entry{plain("/other", 1, 40<<10)}, []string{"curl", "firefox", "safari"}
	for _, values := range asked {
		others = append(others, variant("/v", values, 40<<10, "User-Agent"))
	}
	for _, e := range others {
		mustPut(t, s, e)
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, values := range slices.Concat(asked, asked) { // more often than made-up ones
		o, _ := lookUp(s, "/v", values)
		s.Release(o)
	}
	const atOnce = 5 // are in one segment, and leave before it is sealed
	for i := range 120 {
		attack(t, s, i*atOnce, atOnce, 40<<10, time.Unix(1_800_000_000, 0))
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if st := d.Stats(); st.EvictedLarge > 0 || st.Bytes > disk.MinBytes/2 {
		t.Errorf("got %d large records evicted and %d bytes, want none and less than half of the disk", st.EvictedLarge, st.Bytes)
	}
	for _, e := range others {
		if !s.OnDisk(e.Name) {
			t.Errorf("%s was evicted", e.Name)
		}
	}
}

// until waits until the disk has found all that it has.
func until(t *testing.T, d *disk.Store) {
	t.Helper()
	for d.Stats().Unfilled > 0 {
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// After a kill the list lacks one in listShare of the variants at most, and memory that forgets a URL has its list written.
func TestTheListOfVariantsOutlivesAKillAndAFullIndex(t *testing.T) {
	d := newDisk(t, "")
	t.Cleanup(d.Close)
	o := usualOptions()
	o.MaxVariants, o.Disk = 32, d
	s := newStoreOf(t, o)
	at := time.Unix(1_800_000_000, 0)
	attack(t, s, 0, 100, 500, at)
	killed := newStoreOf(t, o) // it knows nothing but the disk
	attack(t, killed, 200, 100, 500, at)
	if n, most := variantsOnDisk(t, d), 32+32/listShare; n > most {
		t.Errorf("after a kill: got %d variants, want at most %d", n, most)
	}
	for i := range 400 { // more URLs than the index has room for
		mustPut(t, killed, variant(fmt.Sprint("/other/", i), "x", 500, "User-Agent"))
	}
	if listsOf(killed, "/v") != nil {
		t.Fatal("the index has room for all")
	}
	before := variantsOnDisk(t, d)
	attack(t, killed, 400, 100, 500, at)
	if n := variantsOnDisk(t, d); n > before {
		t.Errorf("after the index has dropped the URL: got %d variants, want at most the %d that there were", n, before)
	}
}

// Where a process allows fewer variants than the one before, those that are too many go when it comes to know of them.
func TestFewerVariantsThanBeforeAreAllowed(t *testing.T) {
	d := newDisk(t, "")
	t.Cleanup(d.Close)
	o := usualOptions()
	o.MaxVariants, o.Disk = 40, d
	s := newStoreOf(t, o)
	attack(t, s, 0, 40, 500, time.Unix(1_800_000_000, 0))
	s.mu.Lock()
	s.relistAllLocked()
	s.mu.Unlock()
	o.MaxVariants = 5
	if few := newStoreOf(t, o); len(fieldsOf(few, "/v")) != 0 {
		t.Fatal("memory knows the URL already")
	} else if o, _ := lookUp(few, "/v", "made-up-39"); o == nil {
		t.Error("the newest variant is gone")
	}
	if n := variantsOnDisk(t, d); n > 5 {
		t.Errorf("got %d variants on the disk, want at most 5", n)
	}
}

// A purge removes the variants that the disk has, and counts them, by whichever fields they vary.
func TestVariantsOnTheDiskGoWithTheirURL(t *testing.T) {
	f := func(name string, want int, act func(s *Store) int) {
		t.Run(name, func(t *testing.T) {
			s, d := newStoreOnDisk(t, usualOptions())
			for i := range 5 {
				mustPut(t, s, variant("/v", fmt.Sprint(i), 500, "User-Agent"))
			}
			if n := act(s); n != want {
				t.Errorf("got %d, want %d", n, want)
			}
			left := 0
			for i := range 5 {
				e := variant("/v", fmt.Sprint(i), 500, "User-Agent")
				if s.OnDisk(e.Name) {
					left++
				}
			}
			if left != 0 || variantsOnDisk(t, d) > 1 {
				t.Errorf("got %d of the variants left", left)
			}
		})
	}
	purge := func(s *Store) int { return s.Purge(sum("/v"), []byte("/v")) }
	f("purge", 5, purge)
	f("with one without Vary", 6, func(s *Store) int { mustPut(t, s, plain("/v", 1, 100)); return purge(s) })
	f("with one by another field", 6, func(s *Store) int {
		mustPut(t, s, variant("/v", "br", 100, "Accept-Encoding"))
		return purge(s)
	})
}

// A marker was looked at once, by the first request after a start, and so it left the disk with its segment while its variants, which are asked for,
// stayed. After a restart nobody found them.
func TestAMarkerStaysWithItsVariants(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	mustPut(t, s, variant("/v", "en", 2000, "Accept-Language"))
	const records = 3 * disk.MinBytes / 8000
	for i := range records {
		if i%20 == 0 {
			o, loaded := lookUp(s, "/v", "en")
			if o == nil || !loaded {
				t.Fatalf("after %d others: found %v, on the disk %v", i, o != nil, loaded)
			}
			s.Release(o)
		}
		mustPut(t, s, plain(fmt.Sprint("/other/", i), 1, 8000))
		if i%100 == 0 {
			if err := d.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := usualOptions()
	o.Disk = d
	if o, _ := lookUp(newStoreOf(t, o), "/v", "en"); o == nil {
		t.Error("the next process does not find the variant")
	}
}

// A variant whose marker has left the disk cannot be invalidated by its URL. It came back with the marker of the next variant.
func TestAVariantOfALostMarkerDoesNotComeBack(t *testing.T) {
	f := func(name string, listedOnly uint64, want bool) {
		t.Run(name, func(t *testing.T) {
			s, d := newStoreOnDisk(t, usualOptions())
			en, de := variant("/v", "en", 500, "Accept-Language"), variant("/v", "de", 500, "Accept-Language")
			en.Born, de.Born = 3, 5
			mustPut(t, s, en)
			d.Remove(s.disk.markerHash([]byte("/v"))) // like a marker whose segment has left
			o := usualOptions()
			o.Disk = d
			s = newStoreOf(t, o)
			s.OnlyListed(listedOnly)
			mustPut(t, s, de)
			for values, want := range map[string]bool{"en": want, "de": true} {
				if o, _ := lookUp(s, "/v", values); (o != nil) != want {
					t.Errorf("%s: found %v, want %v", values, o != nil, want)
				}
			}
		})
	}

	f("invalidated meanwhile", 4, false)
	f("not invalidated", 2, true)
}
