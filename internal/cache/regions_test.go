package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/http/field"
)

// newSmallRegions returns a Store with regions of 8 KiB for blocks of at most 2 KiB.
func newSmallRegions(tb testing.TB, maxBytes int64) *Store {
	tb.Helper()
	s := newStoreOf(tb, Options{MaxBytes: maxBytes, MaxObjectBytes: 8 << 10, MaxVariants: 4, StageBytes: maxBytes / 8})
	s.main.blocks.regionWords, s.main.blocks.smallWords = 8<<10/wordBytes, 2<<10/wordBytes
	return s
}

// told returns a response that says in each part which it is: its header and its body have the version, and every byte of
// the body follows from it.
func told(name string, version uint64, bodyBytes int) *Entry {
	e := plain(name, 0, 0)
	e.Serial = version
	e.Tags = []uint64{version, version}[:version%3]
	e.Header = field.List{{Name: "X-Version", Value: strconv.FormatUint(version, 10)}, {Name: "X-Length", Value: strconv.Itoa(bodyBytes)}}
	e.Content = InMemory(toldBody(version, bodyBytes))
	return e
}

func toldBody(version uint64, n int) []byte {
	b := make([]byte, 8+n)
	binary.LittleEndian.PutUint64(b, version)
	for i := range n {
		b[8+i] = byte(version*31 + uint64(i)*7) //nolint:gosec // any byte will do
	}
	return b
}

// checkTold holds o to what told has made, under this name.
func checkTold(tb testing.TB, o *Object, name string) {
	tb.Helper()
	content, _ := o.Content().Bytes()
	if len(content) < 8 {
		tb.Errorf("%s: got a body of %d bytes", name, len(content))
		return
	}
	version := binary.LittleEndian.Uint64(content)
	want := fmt.Sprintf("X-Version: %d\r\nX-Length: %d\r\n", version, len(content)-8)
	if got := string(o.Header()); !strings.HasPrefix(got, want) {
		tb.Errorf("%s: got header %q with the body of version %d", name, got, version)
	}
	if !bytes.Equal(content, toldBody(version, len(content)-8)) {
		tb.Errorf("%s: got other bytes than version %d has", name, version)
	}
	if string(o.Name()) != name || o.Key() != sum(name) || o.Serial() != version || len(o.Tags()) != int(version%3) {
		tb.Errorf("%s: got name %q, serial %d and %d tags with the body of version %d", name, o.Name(), o.Serial(), len(o.Tags()), version)
	}
}

// checkBlocks holds the accounts of regions to what lies in them. No write may be in progress.
func checkBlocks(tb testing.TB, s *Store) {
	tb.Helper()
	b := &s.main.blocks
	numbers := map[uint32]bool{}
	s.main.numbers(func(n uint32) bool { numbers[n] = true; return false })
	held, landed, alone := map[*region]int{}, map[*region]int{}, 0
	s.window.each(func(o *Object) {
		if o.place == 0 {
			return
		}
		numbers[o.place] = true
		at := b.places.at(o.place).Load()
		if at&aloneBit != 0 || b.at(o.place) != o {
			tb.Fatalf("%q, which has landed: got %v under its number, want it in a region", o.Name(), b.at(o.place))
		}
		landed[b.regionAt(at)]++
	})
	if got := int(b.places.taken) - len(b.places.free); got != len(numbers) {
		tb.Errorf("got %d numbers taken, want the %d of ristretto and of what has landed", got, len(numbers))
	}
	for n := range numbers {
		at, o := b.places.at(n).Load(), b.at(n)
		switch {
		case o == nil || o.place != n:
			tb.Fatalf("number %d: got Object %v", n, o)
		case at&aloneBit != 0:
			alone++
			if o.form&formApart == 0 && o.blockWords() <= b.smallWords && s.shares[o] == nil && !o.Varies() {
				tb.Errorf("%q: got it alone, want it in a region", o.Name())
			}
		default:
			held[b.regionAt(at)] += o.blockWords()
		}
	}
	if got := int(b.alone.taken) - len(b.alone.free); got != alone {
		tb.Errorf("got %d numbers taken by what lies alone, want %d", got, alone)
	}
	regions, sum, landings := 0, account{}, account{}
	check := func(r *region, a *account) {
		regions++
		a.add(r.held, b.regionWords)
		if r.held != held[r] || r.landed != landed[r] || b.regions.at(r.number).Load() != r {
			tb.Errorf("region %d: got %d words held and %d of the window, want %d and %d", r.number, r.held, r.landed, held[r], landed[r])
		}
	}
	for i, r := range b.full {
		for ; r != nil; r = r.next {
			check(r, &sum)
			if b.filling(r) != i || r == b.open || r == b.landing || r.held == 0 || r.landed > 0 {
				tb.Errorf("region %d: got it in list %d, with %d words and %d of the window", r.number, i, r.held, r.landed)
			}
		}
	}
	if b.open != nil {
		check(b.open, &sum)
	}
	if b.landing != nil && b.landing.landed == 0 {
		check(b.landing, &landings)
	}
	for r := range landed {
		check(r, &landings)
	}
	if got := int(b.regions.taken) - len(b.regions.free); got != regions {
		tb.Errorf("got %d regions, want %d", got, regions)
	}
	if b.account != sum || b.landings != landings {
		tb.Errorf("got accounts %+v, and %+v of landing regions, want %+v and %+v", b.account, b.landings, sum, landings)
	}
}

// churn makes a step of a random run on s: it stores, replaces, confirms, makes stale, promotes or purges.
func churn(s *Store, r *rand.Rand, names []string, version uint64) {
	name := names[r.IntN(len(names))]
	size := r.IntN(1500)
	if r.IntN(8) == 0 {
		size = r.IntN(8 << 10)
	}
	switch r.IntN(10) {
	case 0:
		s.Purge(sum(name), []byte(name))
	case 1:
		if o, ok := find(s, sum(name), []byte(name)); ok {
			e := o.Entry()
			e.Header.Add("X-Confirmed", "yes")
			s.Renew(e, o.Serial(), nil)
		}
	case 2:
		s.Revise(sum(name), func(e *Entry) *Entry {
			stale := *e
			stale.InitialAge++
			return &stale
		})
	case 3:
		s.PutStage(told(name, version, size), nil)
	case 4:
		s.Promote(sum(name), []byte(name), 0)
	default:
		s.Put(told(name, version, size), nil)
	}
}

// What is read is the response that was stored under that name, byte by byte, whatever is stored,
// confirmed, evicted and moved meanwhile; also long after it has left.
func TestObjectsStayWhatTheyAreWhileRegionsAreEmptied(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	names := make([]string, 1500)
	for i := range names {
		names[i] = "/" + strconv.Itoa(i)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			kept := make([]*Object, 64)
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				name := names[r.IntN(len(names))]
				if o, ok := find(s, sum(name), []byte(name)); ok {
					checkTold(t, o, name)
					kept[r.IntN(len(kept))] = o
				}
				if o := kept[r.IntN(len(kept))]; o != nil {
					checkTold(t, o, string(o.Name()))
				}
				if n%2000 == 0 {
					s.Each(func(o *Object) { checkTold(t, o, string(o.Name())) })
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 99))
	for version := range uint64(12_000) {
		churn(s, r, names, version+1)
		if version%1000 == 0 {
			s.mu.Lock()
			settleRistretto(s)
			checkBlocks(t, s)
			s.mu.Unlock()
		}
	}
	close(done)
	readers.Wait()
	checkBlocks(t, s)
	checkBooks(t, s, keysOf(names))
	if s.main.blocks.regions.taken < 10 {
		t.Errorf("got %d regions, want many", s.main.blocks.regions.taken)
	}
}

func keysOf(names []string) map[string]Key {
	keys := map[string]Key{}
	for _, name := range names {
		keys[name] = sum(name)
	}
	return keys
}

// In a full cache what has left takes no more of the regions than each Object pays for.
func TestHolesStayWithinTheirBound(t *testing.T) {
	s := newSmallRegions(t, 2<<20)
	b := &s.main.blocks
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		name := "/" + strconv.Itoa(r.IntN(9000))
		if _, ok := find(s, sum(name), []byte(name)); !ok {
			mustPut(t, s, told(name, uint64(i+1), 50+r.IntN(400)))
		}
		if holes, most := b.words-b.held, b.held/holesShare+(spareRegions+1)*int64(b.regionWords); i > 5000 && holes > most {
			t.Fatalf("after %d: got %d words of holes beside %d, want at most %d", i, holes, b.held, most)
		}
	}
	checkBlocks(t, s)
}

// A purge of everything leaves one region.
func TestRegionsAreLetGo(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	for i := range 800 {
		mustPut(t, s, told("/"+strconv.Itoa(i), uint64(i+1), 300))
	}
	name := []byte("/0")
	kept, ok := find(s, sum("/0"), name)
	if !ok || s.main.blocks.places.at(kept.place).Load()&aloneBit != 0 {
		t.Fatal("got the oldest elsewhere, want it in a region")
	}
	for i := range 800 {
		url := "/" + strconv.Itoa(i)
		s.Purge(sum(url), []byte(url))
	}
	checkBlocks(t, s)
	one := int64(s.main.blocks.regionWords)
	if b := &s.main.blocks; b.held+b.landings.held != 0 || b.words > one || b.landings.words != one {
		t.Errorf("got %+v, and %+v of landing regions, want one region of either at most, and nothing in it", b.account, b.landings)
	}
	for range 3 {
		runtime.GC()
	}
	checkTold(t, kept, "/0") // its reader keeps it
}

// The content that a variant shares with another one keeps no region, whichever came first.
func TestSharedContentLiesAlone(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	mustPut(t, s, tagged("/a", "1", `"x"`, 7, 400))
	for i := range 200 { // it moves to main
		mustPut(t, s, told("/"+strconv.Itoa(i), uint64(i+1), 300))
	}
	host := s.main.find(sum("/a\x001"))
	if host == nil || s.main.blocks.places.at(host.place).Load()&aloneBit != 0 {
		t.Fatal("got the first variant elsewhere, want it in a region")
	}
	if got := s.Put(tagged("/a", "2", `"x"`, 7, 400), nil); got != Joined {
		t.Fatalf("got %v, want it to join the other variant", got)
	}
	host = s.main.find(sum("/a\x001"))
	if host == nil || s.main.blocks.places.at(host.place).Load()&aloneBit == 0 || s.shares[host] == nil {
		t.Error("got the host in a region, want it alone")
	}
	checkShares(t, s)
	checkBlocks(t, s)
}

// A look-up that has the number of what leaves meanwhile looks again: what stands in its place is in the window by then.
func TestALookUpThatMeetsAReplacementFindsIt(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	mustPut(t, s, told("/a", 1, 100))
	for i := range 200 {
		mustPut(t, s, told("/"+strconv.Itoa(i), uint64(i+1), 300))
	}
	k := sum("/a")
	held := s.main.find(k)
	if held == nil {
		t.Fatal("got nothing in main")
	}
	place := s.main.blocks.places.at(held.place)
	was := place.Swap(0) // the object leaves after the look-up has its number
	if it, left := s.main.look(k); it != nil || !left {
		t.Errorf("got %v and left %v, want nothing, since it has left", it, left)
	}
	place.Store(was)
	if it, left := s.main.look(k); it == nil || left {
		t.Errorf("then: got %v and left %v, want it", it, left)
	}
}

// FuzzRegions makes the steps that the input says, and holds all that is found to what was stored.
func FuzzRegions(f *testing.F) {
	f.Add(uint64(1), uint16(3000))
	f.Add(uint64(2), uint16(500))
	names := make([]string, 300)
	for i := range names {
		names[i] = "/" + strconv.Itoa(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		s := newSmallRegions(t, 256<<10)
		r := rand.New(rand.NewPCG(seed, 5))
		kept := map[string]*Object{}
		for version := range uint64(steps % 4096) {
			churn(s, r, names, version+1)
			name := names[r.IntN(len(names))]
			if o, ok := find(s, sum(name), []byte(name)); ok {
				checkTold(t, o, name)
				kept[name] = o
			}
		}
		for name, o := range kept {
			checkTold(t, o, name)
		}
		checkBlocks(t, s)
	})
}
