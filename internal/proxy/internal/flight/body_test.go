package flight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/route/client"
	"edgeproxy/internal/test/testkit"
)

// memory is a spool file for tests; it fails once there are so many bytes in it.
type memory struct {
	mu     sync.Mutex
	b      []byte
	room   int
	closed bool
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if off != int64(len(m.b)) {
		panic(fmt.Sprintf("written at %d, where %d bytes are", off, len(m.b)))
	}
	if len(m.b)+len(p) > m.room {
		return 0, errors.New("disk full")
	}
	m.b = append(m.b, p...)
	return len(p), nil
}

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if off >= int64(len(m.b)) {
		return 0, io.EOF
	}
	return copy(p, m.b[off:]), nil
}

func (m *memory) Reset() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b = m.b[:0]
	return nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// plan is one random run of the property below.
type plan struct {
	rnd                 *rand.Rand
	table               *Table[int, string]
	budget, ahead, disk int64
	files               []*memory
	mu                  sync.Mutex
	wrong               []string
	bytes               []byte
}

func (p *plan) failf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

func newPlan(seed uint64, bytes []byte) *plan {
	rnd := rand.New(rand.NewPCG(seed, 7))
	p := &plan{rnd: rnd, bytes: bytes, budget: int64(1+rnd.IntN(64)) * 64 << 10, ahead: int64(1+rnd.IntN(8)) * 64 << 10}
	o := Options{Budget: NewBudget(p.budget, []client.Part{1, 0.125}[rnd.IntN(2)]), ObjectBytes: testLimit, Ahead: p.ahead}
	if rnd.IntN(2) == 0 {
		p.disk = int64(rnd.IntN(4)) << 20
		o.Spool = func() (SpoolFile, error) {
			f := &memory{room: int(p.disk)}
			p.mu.Lock()
			p.files = append(p.files, f)
			p.mu.Unlock()
			return f, nil
		}
	}
	p.table = NewTable[int, string](o)
	return p
}

// fly plays one flight: its fetch, and readers that come and go at paces of their own.
func (p *plan) fly(key int, flights *sync.WaitGroup) {
	r := rand.New(rand.NewPCG(p.rnd.Uint64(), 3))
	body := p.bytes[:r.IntN(len(p.bytes))]
	known := int64(-1)
	if r.IntN(2) == 0 {
		known = int64(len(body))
	}
	storable := r.IntN(5) > 0 && known <= testLimit
	joins := Admission{Leading: r.IntN(3) == 0, Following: r.IntN(2) == 0, Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(r.IntN(3))}), 32)}
	pause := time.Duration(r.IntN(3)) * time.Millisecond
	reader, leads := p.table.Join(key, key, joins)
	if leads {
		p.table.Go(reader, func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: storable, Shareable: true, Length: known})
			for rest := body; len(rest) > 0 && f.Context().Err() == nil; time.Sleep(pause) {
				left := int64(-1)
				if known >= 0 {
					left = int64(len(rest))
				}
				n := copy(f.Space(left), rest)
				rest = rest[n:]
				f.Commit(n, known >= 0 && len(rest) == 0)
				p.check(f)
			}
			err := f.Context().Err()
			if err == nil {
				if whole, k := f.Whole(false); k == KeptForStore {
					if !bytes.Equal(whole, body) {
						p.failf("flight %d: stores %d bytes, not its body", key, len(whole))
					}
					f.Stored(whole)
				}
			}
			f.Finish(err)
		}, nil)
	}
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			if reader, _ = p.table.Follow(key, joins); reader == nil {
				break
			}
		}
		mine, seed := reader, r.Uint64()
		flights.Go(func() { p.read(mine, body, seed, leads) })
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
}

// read reads at a pace of its own, and holds what it gets against the body.
func (p *plan) read(reader *Reader[int, string], body []byte, seed uint64, mine bool) {
	defer reader.Close()
	r := rand.New(rand.NewPCG(seed, 5))
	if _, o, _ := reader.Wait(Patience{}, nil); o != Shared {
		return
	}
	pause, leaves := time.Duration(r.IntN(40))*time.Millisecond, r.IntN(6) == 0
	got, b := 0, make([]byte, 100_000)
	for {
		time.Sleep(pause)
		n, err := reader.Read(b[:1+r.IntN(len(b)-1)])
		got += n
		switch {
		case mine && (got > len(body) || !bytes.Equal(body[got-n:got], b[:n])):
			p.failf("a reader got other bytes before %d of %d", got, len(body))
			return
		case errors.Is(err, ErrBehind):
			return
		case errors.Is(err, io.EOF):
			if mine && got != len(body) {
				p.failf("got %d bytes and the end of %d", got, len(body))
			}
			return
		case err != nil:
			return
		case leaves && got > 300_000:
			return
		}
	}
}

// check holds what is held in memory against what may be.
func (p *plan) check(f *Flight[int, string]) {
	if used := p.table.budget.Used(); used > p.budget || used < 0 {
		p.failf("%d bytes reserved of %d", used, p.budget)
	}
	b := &f.body
	b.mu.Lock()
	defer b.mu.Unlock()
	held := int64(0)
	for _, c := range b.chunks {
		held += int64(cap(c))
	}
	switch {
	case held != b.held:
		p.failf("%d bytes held, %d counted", held, b.held)
	case held > b.reserved+windowBytes:
		p.failf("%d bytes held, %d reserved", held, b.reserved)
	}
}

// TestBodies: whatever the paces of readers, the memory and the disk, every byte that a
// reader gets is right, it gets all or learns that it is behind, and no more memory is
// held than there is.
func TestBodies(t *testing.T) {
	all := randomBody(3 * testLimit / 2)
	for seed := range uint64(testkit.Times(60, 20)) { //nolint:gosec // it is above 0
		synctest.Test(t, func(t *testing.T) {
			p := newPlan(seed, all)
			var flights sync.WaitGroup
			for key := range 12 {
				p.fly(key, &flights)
				time.Sleep(time.Duration(p.rnd.IntN(50)) * time.Millisecond)
			}
			flights.Wait()
			p.table.Close()
			for _, wrong := range p.wrong {
				t.Errorf("seed %d: %s", seed, wrong)
			}
			if used, n := p.table.budget.Used(), p.table.Len(); used != 0 || n != 0 || p.table.reclaimable != nil {
				t.Errorf("seed %d: %d bytes and %d flights left, loose ones: %v", seed, used, n, p.table.reclaimable != nil)
			}
			for _, f := range p.files {
				if !f.closed {
					t.Errorf("seed %d: a file is not closed", seed)
				}
			}
		})
	}
}

// TestAFirstSightingIsPacedByItsOnlyReader: what one client waits for and nobody has admitted
// was read at the origin's pace and held whole until that client had it.
func TestAFirstSightingIsPacedByItsOnlyReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 128 << 10
		table := NewTable[int, string](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit, Ahead: ahead})
		body := randomBody(testLimit)
		r, _ := table.Join(1, 1, Admission{})
		var kept Kept
		table.Go(r, func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: true, Shareable: true, Length: testLimit})
			send(f, body, 10_000, true)
			whole, k := f.Whole(false)
			if kept = k; k == KeptForStore {
				f.Stored(whole)
			}
			f.Finish(nil)
		}, nil)
		synctest.Wait()
		if n, used := r.Flight().Size(), table.budget.Used(); n != ahead || used != ahead {
			t.Errorf("%d bytes fetched, %d reserved; want %d of both", n, used, ahead)
		}
		if r.Secured() {
			t.Error("it says that it will be stored")
		}
		joined, ok := table.Follow(1, Admission{Following: true})
		if !ok || !joined.Secured() {
			t.Fatal("nobody can join, or the join does not admit")
		}
		synctest.Wait()
		if kept != KeptForStore || table.budget.Used() != 0 {
			t.Errorf("kept %v, %d bytes reserved; want the body stored and none", kept, table.budget.Used())
		}
		for _, r := range []*Reader[int, string]{r, joined} {
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			r.Close()
		}
		table.Close()
	})
}

// TestNineSlowClientsLeaveRoomForWhatIsStored: nine first sightings of 8 MiB that are read
// slowly held all of inflight_bytes, and no admitted fill was stored meanwhile.
func TestNineSlowClientsLeaveRoomForWhatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const object = 8 << 20
		table := NewTable[int, string](Options{Budget: NewBudget(64<<20, 0.125), ObjectBytes: object, Ahead: 1 << 20})
		ask := func(key int, admit bool, c byte) (*Reader[int, string], *Kept) {
			kept := new(Kept)
			r, _ := table.Join(key, key, Admission{Leading: admit, Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, c}), 32)})
			table.Go(r, func(f *Flight[int, string]) {
				f.Publish("", Response{Storable: true, Shareable: true, Length: object})
				for left := int64(object); left > 0; {
					n := min(int64(len(f.Space(left))), left)
					left -= n
					f.Commit(int(n), left == 0)
				}
				whole, k := f.Whole(false)
				if *kept = k; k == KeptForStore {
					f.Stored(whole)
				}
				f.Finish(nil)
			}, nil)
			return r, kept
		}
		var slow []*Reader[int, string]
		for i := range 9 {
			r, _ := ask(i, false, byte(i))
			slow = append(slow, r)
		}
		synctest.Wait()
		for i := range 63 {
			r, kept := ask(100+i, true, 100)
			synctest.Wait() // its client has read nothing
			if *kept != KeptForStore || !r.Secured() {
				t.Errorf("admitted fill %d: kept %v, want it stored", i, *kept)
			}
			defer r.Close()
		}
		for _, r := range slow {
			if n, err := io.Copy(io.Discard, r); n != object || err != nil {
				t.Errorf("a slow client got %d bytes, %v", n, err)
			}
			r.Close()
		}
		table.Close()
		if used := table.budget.Used(); used != 0 {
			t.Errorf("%d bytes left", used)
		}
	})
}

// TestWhatIsStoredTakesMemoryBackFromFirstSightings: those that are kept whole for clients
// that may join are windowed where there is no memory else, and their readers go on.
func TestWhatIsStoredTakesMemoryBackFromFirstSightings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 128 << 10
		table := NewTable[int, string](Options{Budget: NewBudget(2<<20, 1), ObjectBytes: testLimit, Ahead: ahead})
		body := randomBody(testLimit)
		fetch := func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: true, Shareable: true, Length: testLimit})
			send(f, body, 10_000, true)
			f.Finish(nil)
		}
		first, _ := table.Join(1, 1, Admission{})
		table.Go(first, fetch, nil)
		got := make([]byte, 900_000)
		if _, err := io.ReadFull(first, got); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var readers []*Reader[int, string]
		for key := range 2 { // which is all that there is
			r, _ := table.Join(10+key, 10, Admission{Leading: true})
			r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: 900_000})
			if !r.Secured() {
				t.Errorf("admitted fill %d found no memory", key)
			}
			readers = append(readers, r)
		}
		if _, ok := table.Follow(1, Admission{}); ok {
			t.Error("the first sighting still takes followers")
		}
		rest, err := io.ReadAll(first)
		if got = append(got, rest...); err != nil || !bytes.Equal(got, body) {
			t.Errorf("the first sighting's client got %d bytes, %v", len(got), err)
		}
		_ = first.Close()
		for _, r := range readers {
			r.Flight().Finish(nil)
			_ = r.Close()
		}
		table.Close()
		if used := table.budget.Used(); used != 0 {
			t.Errorf("%d bytes left", used)
		}
	})
}

// TestOneClientHoldsItsShareOfMemory: while little is free.
func TestOneClientHoldsItsShareOfMemory(t *testing.T) {
	b := NewBudget(64<<20, 0.125)
	one, other := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	for range 6 {
		if b.reserve(8<<20, one, true) != 0 {
			t.Error("of plenty, one client may have three quarters")
		}
	}
	if b.reserve(1, one, true) != shareSpent {
		t.Error("while little is free, one client has more than its share")
	}
	if b.reserve(8<<20, other, true) != 0 {
		t.Error("another client has no share")
	}
	if b.reserve(1, netip.Prefix{}, false) == 0 {
		t.Error("what nobody has admitted takes the last quarter")
	}
	b.release(48<<20, one)
	b.release(8<<20, other)
	if b.Used() != 0 || b.shares.Len() != 0 {
		t.Errorf("%d bytes and %d clients left", b.Used(), b.shares.Len())
	}
}

// TestAFlightNeverWaitsForItsSlowestReader: a reader that takes nothing stopped its flight.
func TestAFlightNeverWaitsForItsSlowestReader(t *testing.T) {
	for _, spool := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit, Ahead: 256 << 10}
			file := &memory{room: 64 << 20}
			if spool {
				o.Spool = func() (SpoolFile, error) { return file, nil }
			}
			table := NewTable[int, string](o)
			body := randomBody(5 * testLimit) // its length is unknown, and it is too large to be stored
			fast, _ := table.Join(1, 1, Admission{Leading: true})
			slow, _ := table.Join(1, 1, Admission{})
			table.Go(fast, func(f *Flight[int, string]) {
				f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
				send(f, body, 10_000, false)
				f.Finish(nil)
			}, nil)
			if got, err := io.ReadAll(fast); err != nil || !bytes.Equal(got, body) {
				t.Errorf("the fast reader got %d bytes, %v", len(got), err)
			}
			fast.Close()
			got, err := io.ReadAll(slow)
			if want := spool; (err == nil) != want || !bytes.HasPrefix(body, got) || want && len(got) != len(body) {
				t.Errorf("the slow reader, spool %v: got %d bytes, %v", spool, len(got), err)
			}
			slow.Close()
			table.Close()
			if used := table.budget.Used(); used != 0 || spool && !file.closed {
				t.Errorf("%d bytes left, file closed %v", used, file.closed)
			}
		})
	}
}

// TestTheFetchOfASlowClientEndsOnDisk: without it the origin waits for its client.
func TestTheFetchOfASlowClientEndsOnDisk(t *testing.T) {
	for _, room := range []int{64 << 20, 1 << 20, 0} {
		synctest.Test(t, func(t *testing.T) {
			file := &memory{room: room}
			table := NewTable[int, string](Options{
				Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit, Ahead: 256 << 10,
				Spool: func() (SpoolFile, error) { return file, nil },
			})
			body, ended := randomBody(5*testLimit), false
			r := table.Lead(1, 1, false, netip.Prefix{})
			table.Go(r, func(f *Flight[int, string]) {
				f.Publish("", Response{Length: int64(len(body))})
				send(f, body, 10_000, true)
				f.Finish(nil)
				ended = true
			}, nil)
			synctest.Wait()
			if want := room > len(body); ended != want {
				t.Errorf("%d bytes of disk: the fetch has ended %v, want %v", room, ended, want)
			}
			if used := table.budget.Used(); used > 320<<10 {
				t.Errorf("%d bytes of disk: %d bytes of memory taken", room, used)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes of disk: got %d bytes, %v", room, len(got), err)
			}
			r.Close()
			table.Close()
			if !file.closed {
				t.Error("the file is not closed")
			}
		})
	}
}

// TestAShortBodyThatIsNotStoredTakesNoMoreThanItsLength: it took 32 KiB.
func TestAShortBodyThatIsNotStoredTakesNoMoreThanItsLength(t *testing.T) {
	table := newTestTable()
	r, _ := table.Join(1, 1, Admission{})
	f := r.Flight()
	f.Publish("", Response{Length: 1000})
	for _, part := range []int64{600, 400} {
		room := f.Space(part)
		if used := table.budget.Used(); int64(len(room)) != part || used > 1000 {
			t.Fatalf("got room for %d and %d bytes of memory, want %d and 1000 at most", len(room), used, part)
		}
		f.Commit(len(room), false)
	}
	f.Finish(nil)
	if err := r.Close(); err != nil || table.budget.Used() != 0 {
		t.Errorf("%d bytes are left, %v", table.budget.Used(), err)
	}
}
