package cache

import (
	"fmt"
	"testing"
	"time"

	"edgeproxy/internal/http/rfc9111"
)

// fullOf fills s, a store of 4 MiB, with small entries that are asked for in every round.
func fullOf(t *testing.T, s *Store) {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("/small/%d", i) }
	for i := range 1000 {
		mustPut(t, s, plain(name(i), 0, 4<<10))
	}
	for range 3 {
		for i := range 1000 {
			holds(s, name(i))
		}
		mustPut(t, s, plain("/tick", 0, 100))
	}
}

// A response of 500 KiB stays outside of a full cache as long as it is not asked for more often than all the small ones that would
// have to leave. Asked for twice in a row, it comes in.
func TestALargeResponseIsOutweighedByManySmallOnes(t *testing.T) {
	s := newRankedStore(t, 4<<20)
	fullOf(t, s)
	large, small := plain("/large", 0, 500<<10), plain("/new", 0, 4<<10)
	before := s.Stats()
	if !s.Outweighed(large, large.Content.Size(), 2) {
		t.Fatal("got a large response that nobody has asked for lately in the place of some hundred small ones")
	}
	if got := s.Stats(); got.Outweighed != before.Outweighed+1 || got.Objects != before.Objects || got.Bytes != before.Bytes {
		t.Errorf("got %+v, want %+v with one outweighed", got, before)
	}
	s.Outweighed(small, small.Content.Size(), 2)
	if s.Outweighed(small, small.Content.Size(), 2) {
		t.Error("a small one that is asked for again at once is outweighed by another")
	}
	for i := range 1000 { // others come, and only the large one is asked for again
		mustPut(t, s, plain(fmt.Sprintf("/other/%d", i), 0, 4<<10))
		if !s.Outweighed(large, large.Content.Size(), 2) {
			return
		}
	}
	t.Error("a large one that is asked for again and again never comes in")
}

func TestWhatDoesNotCompeteIsNeverOutweighed(t *testing.T) {
	large := plain("/large", 0, 500<<10)
	f := func(what string, s *Store, e *Entry, times int) {
		t.Helper()
		if s.Outweighed(e, 500<<10, times) {
			t.Errorf("%s: got it outweighed", what)
		}
	}
	s := newRankedStore(t, 4<<20)
	f("there is room", s, large, 2)
	fullOf(t, s)
	f("a policy that remembers nothing", s, large, 0)
	f("a newer response in the place of another", s, plain("/small/999", 1, 500<<10), 2)
	s.Evict(Recency, Balanced)
	f("recency", s, large, 2)
	s.Evict(SizeAware, ForHits)
	if !s.Outweighed(large, 500<<10, 2) {
		t.Error("size-aware again: want it outweighed")
	}
	r := newRistrettoStore(t)
	for i := range 1000 {
		mustPut(t, r, plain(fmt.Sprintf("/small/%d", i), 0, 4<<10))
	}
	f("ristretto", r, large, 2)
}

// Of a body of unknown length the mean size is taken.
func TestABodyOfUnknownLengthCompetesAsOneOfMeanSize(t *testing.T) {
	s := newRankedStore(t, 4<<20)
	fullOf(t, s)
	e := plain("/large", 0, 8)
	for range 3 { // so that it was asked for lately
		s.Outweighed(e, -1, 2)
	}
	if s.Outweighed(e, -1, 2) {
		t.Error("got it outweighed, want it in the place of one small one")
	}
}

// A staged response that is outweighed stays where it is, and its next request may let it in.
func TestAnOutweighedResponseStaysInTheStage(t *testing.T) {
	s, err := New(Options{MaxBytes: 8 << 20, MaxObjectBytes: 600 << 10, MaxVariants: 32, StageBytes: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	large := plain("/large", 0, 500<<10)
	mustStage(t, s, large)
	for round := range 3 {
		for i := range 2000 {
			name := fmt.Sprintf("/small/%d", i)
			if round == 0 {
				mustPut(t, s, plain(name, 0, 4<<10))
			}
			holds(s, name)
		}
	}
	if s.Promote(large.Key, large.Name, 2) {
		t.Fatal("got it in the memory tier in the place of more than a hundred others")
	}
	if got := tierOf(s, "/large"); got != Stage || s.Stats().Outweighed != 1 {
		t.Errorf("got it in %v, %d outweighed, want it in the stage and 1", got, s.Stats().Outweighed)
	}
	for i := range 2000 { // others come, and only the large one is asked for again
		mustPut(t, s, plain(fmt.Sprintf("/other/%d", i), 0, 4<<10))
		if s.Promote(large.Key, large.Name, 2) {
			if tierOf(s, "/large") != Memory {
				t.Error("promoted, and not in the memory tier")
			}
			return
		}
	}
	t.Error("asked for again and again it never comes in")
}

// The interval of a newcomer is the time since it was outweighed or staged.
func TestTheIntervalOfANewcomerIsKnownFromItsLastArrival(t *testing.T) {
	s, err := New(Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for i := range 400 {
		mustPut(t, s, plain(fmt.Sprintf("/first/%d", i), 0, 4<<10))
	}
	e := plain("/again", 0, 4<<10)
	f := func(what string, want float64) {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := s.intervalLocked(e.Key); got != want {
			t.Errorf("%s: got an interval of %v ticks, want %v", what, got, want)
		}
	}
	f("never seen", float64(s.ranked.objects))
	mustStage(t, s, e)
	const others = 100 // each one is a tick: fewer than ticksHeld are held
	for i := range others {
		mustPut(t, s, plain(fmt.Sprintf("/other/%d", i), 0, 4<<10))
	}
	f("staged", others)
	s.mu.Lock()
	s.ranked.loses(e.Key)
	s.mu.Unlock()
	f("outweighed in the stage", 0)
	mustPut(t, s, plain("/one more", 0, 4<<10))
	f("outweighed a moment ago", 1)
}

// A change of the eviction loses nothing of what is held.
func TestAChangeOfTheEvictionKeepsWhatIsHeld(t *testing.T) {
	s := newRankedStore(t, 4<<20)
	fullOf(t, s)
	before := s.Stats()
	for _, e := range []Eviction{Recency, Ristretto, SizeAware} {
		for _, o := range []Optimise{ForByteHits, ForHits, Balanced} {
			s.Evict(e, o)
		}
	}
	if got := s.Stats(); got != before {
		t.Errorf("got %+v, want %+v", got, before)
	}
	mustPut(t, s, plain("/after", 0, 4<<10))
}

// lasting returns e as a response that is of use for so long after now.
func lasting(e *Entry, now time.Time, lifetime time.Duration) *Entry {
	e.ResponseTime, e.Policy = now, rfc9111.Policy{Explicit: true, Lifetime: lifetime}
	return e
}

// What has expired and cannot be validated took the room of what is fresh.
func TestWhatHasExpiredWasKeptLikeWhatIsFresh(t *testing.T) {
	now := time.Now()
	s, err := New(Options{MaxBytes: 4 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	const n = 400 // entries of each kind; all of them fit
	name := func(kind string, i int) string { return fmt.Sprintf("/%s/%d", kind, i) }
	for i := range n {
		mustPut(t, s, lasting(plain(name("fresh", i), 0, 4<<10), now, time.Hour))
		mustPut(t, s, lasting(plain(name("short", i), 0, 4<<10), now, time.Minute))
	}
	for range 5 { // asked for more often than what is fresh
		for i := range n {
			holds(s, name("short", i))
		}
		mustPut(t, s, lasting(plain("/tick", 0, 100), now, time.Hour))
	}
	now = now.Add(2 * time.Minute)
	for i := range 300 {
		mustPut(t, s, lasting(plain(name("new", i), 0, 4<<10), now, time.Hour))
	}
	var held [2]int
	for i := range n {
		for k, kind := range []string{"fresh", "short"} {
			if s.Holds(sum(name(kind, i))) {
				held[k]++
			}
		}
	}
	if s.Stats().Capacity < 100 || held[0] < n-5 {
		t.Errorf("got %d of %d fresh ones and %d expired ones left of %d evictions, want all fresh ones", held[0], n, held[1], s.Stats().Capacity)
	}
}
