package flight

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testLimit  = 1 << 20
	testBudget = 8 << 20
)

func newTestTable() *Table[int, string] { return tableOf(testBudget, nil) }

func tableOf(budget int64, purges func() uint64) *Table[int, string] {
	return NewTable[int, string](Options{Budget: NewBudget(budget, 1), ObjectBytes: testLimit, Generation: purges})
}

// TestAPurgeEndsTheJoiningOfFlights: what a purge of a tag reaches is not known as
// long as a response has no header, so nobody may be given one that was asked for
// before it.
func TestAPurgeEndsTheJoiningOfFlights(t *testing.T) {
	var purges atomic.Uint64
	table := tableOf(testBudget, purges.Load)
	join := func(wantLead bool) *Flight[int, string] {
		t.Helper()
		r, leads := table.Join(1, 7, Admission{Leading: true})
		t.Cleanup(func() { _ = r.Close() })
		if leads != wantLead {
			t.Errorf("after %d purges: joined as leader %v, want %v", purges.Load(), leads, wantLead)
		}
		return r.Flight()
	}
	before := join(true)
	if join(false) != before {
		t.Error("before the purge: got a flight of its own, want the one in progress")
	}
	purges.Add(1)
	if r, ok := table.Follow(1, Admission{}); ok {
		t.Error("Follow after the purge: got a seat, want none")
		_ = r.Close()
	}
	after := join(true)
	if join(false) != after {
		t.Error("after the purge: got another flight, want the one begun after it")
	}
	before.Finish(nil) // must not take the newer one off the list
	if join(false) != after {
		t.Error("after the end of the old flight: got another flight, want the newer one")
	}
	after.Finish(nil)
	if n := table.Len(); n != 0 {
		t.Errorf("got %d flights at the end, want 0", n)
	}
}

// send writes p into f in pieces of at most piece bytes, as a fetch does.
func send(f *Flight[int, string], p []byte, piece int, sized bool) {
	for len(p) > 0 {
		left := int64(-1)
		if sized {
			left = int64(len(p))
		}
		room := f.Space(left)
		n := copy(room[:min(len(room), piece)], p)
		p = p[n:]
		f.Commit(n, sized && len(p) == 0)
	}
}

// stored returns the body that f has for the store.
func stored(f *Flight[int, string]) (body []byte, ok bool) {
	body, k := f.Whole(false)
	return body, k == KeptForStore
}

func randomBody(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestFollowersReadTheLeadersBodyWhileItArrives(t *testing.T) {
	for _, size := range []int{0, 1, minChunk, 100_000, testLimit} {
		for _, sized := range []bool{true, false} {
			table := newTestTable()
			body := randomBody(size)
			leader, led := table.Join(1, 1, Admission{Following: true})
			if !led {
				t.Fatal("first to join does not lead")
			}
			var readers []*Reader[int, string]
			for range 10 {
				r, led := table.Join(1, 1, Admission{Following: true})
				if led {
					t.Fatal("a second flight for one key")
				}
				readers = append(readers, r)
			}
			var stored []byte
			table.Go(leader, func(f *Flight[int, string]) {
				f.Publish("head", Response{Storable: true, Shareable: true, Length: -1})
				send(f, body, 10_000, sized)
				if b, k := f.Whole(false); k == KeptForStore {
					stored = b
				}
				f.Finish(nil)
			}, nil)
			var wg sync.WaitGroup
			for _, r := range append(readers, leader) {
				wg.Go(func() {
					h, o, err := r.Wait(Patience{Most: time.Hour}, nil)
					if h != "head" || o != Shared || err != nil {
						t.Errorf("Wait: got %q %v %v", h, o, err)
					}
					got, err := io.ReadAll(r)
					if err != nil || !bytes.Equal(got, body) {
						t.Errorf("size %d: got %d bytes, %v", size, len(got), err)
					}
					r.Close()
				})
			}
			wg.Wait()
			table.Close()
			if !bytes.Equal(stored, body) {
				t.Errorf("size %d: stored %d bytes, want the whole body", size, len(stored))
			}
			if used := table.budget.Used(); used != 0 {
				t.Errorf("size %d: %d bytes of the budget still taken", size, used)
			}
			if n := table.Len(); n != 0 {
				t.Errorf("%d flights left", n)
			}
		}
	}
}

func TestABodyOfOneKnownPieceIsStoredUncopied(t *testing.T) {
	table := newTestTable()
	r, _ := table.Join(1, 1, Admission{Leading: true})
	f := r.Flight()
	f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
	room := f.Space(5000)
	copy(room, randomBody(5000))
	f.Commit(5000, true)
	body, kept := f.Whole(false)
	store := kept == KeptForStore
	if !store || len(body) != 5000 || cap(body) != 5000 || &body[0] != &room[0] {
		t.Errorf("got store %v, %d of %d bytes, want the very piece that was read into", store, len(body), cap(body))
	}
	f.Finish(nil)
	r.Close()
}

func TestReadersGetTheEndOnlyAfterFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		r, _ := table.Join(1, 1, Admission{Leading: true})
		f := r.Flight()
		f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
		send(f, []byte("abc"), 10, true)
		got := make(chan string, 2)
		go func() {
			p, err := r.Next()
			got <- string(p)
			if err == nil {
				_, err = r.Next()
			}
			got <- err.Error()
			r.Close()
		}()
		synctest.Wait()
		if len(got) != 0 {
			t.Fatalf("reader has %q before the response is stored", <-got)
		}
		f.Finish(nil)
		if p, e := <-got, <-got; p != "abc" || e != "EOF" {
			t.Errorf("got %q then %q, want abc then EOF", p, e)
		}
		table.Close()
	})
}

func TestJoiningAdmits(t *testing.T) {
	f := func(lead, follow Admission, want bool) {
		t.Helper()
		table := newTestTable()
		a, _ := table.Join(1, 1, lead)
		b, _ := table.Join(1, 1, follow)
		a.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
		if _, store := stored(a.Flight()); store != want {
			t.Errorf("leader %+v, follower %+v: stored %v, want %v", lead, follow, store, want)
		}
		a.Flight().Finish(nil)
		a.Close()
		b.Close()
	}
	f(Admission{}, Admission{Following: true}, true)
	f(Admission{}, Admission{Leading: true}, false)
	f(Admission{Leading: true}, Admission{}, true)
	f(Admission{Following: true}, Admission{}, false)
}

func TestAHeldBackBodyIsHandedOutToWhoAsks(t *testing.T) {
	f := func(storable, purge bool, size int, held bool, want Kept) {
		t.Helper()
		table := newTestTable()
		r, _ := table.Join(1, 7, Admission{})
		fl := r.Flight()
		fl.Publish("", Response{Storable: storable, Shareable: storable, Length: -1})
		sent := make(chan struct{})
		go func() { // beyond the limit the writer is paced by its reader
			defer close(sent)
			send(fl, randomBody(size), 10_000, false)
			if purge {
				table.Purge(7)
			}
			body, kept := fl.Whole(held)
			if kept != want || (body != nil) != (held && kept == HeldBack) || body != nil && !bytes.Equal(body, randomBody(size)) {
				t.Errorf("storable %v, purged %v, %d bytes, held %v: got %d bytes, kept %v; want %v",
					storable, purge, size, held, len(body), kept, want)
			}
			fl.Finish(nil)
		}()
		_, _ = io.Copy(io.Discard, r)
		<-sent
		r.Close()
		table.Close()
	}
	f(true, false, 5000, true, HeldBack)
	f(true, false, 5000, false, HeldBack)
	f(true, true, 5000, true, PurgedMeanwhile)
	f(false, false, 5000, true, Outgrown)
	f(true, false, testLimit+1, true, Outgrown)
}

func TestWhatIsNotStoredTakesNoFollowersAtItsEnd(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	a.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
	if _, store := stored(a.Flight()); store {
		t.Fatal("stored without admission")
	}
	b, leads := table.Join(1, 1, Admission{Following: true})
	if !leads {
		t.Error("joined a flight that had already decided not to store")
	}
	b.Close()
	a.Flight().Finish(nil)
	a.Close()
}

func TestUnshareableResponsesReleaseFollowersAtTheHeader(t *testing.T) {
	f := func(storable, shareable bool) {
		t.Helper()
		table := newTestTable()
		a, _ := table.Join(1, 1, Admission{Leading: true})
		b, _ := table.Join(1, 1, Admission{})
		a.Flight().Publish("h", Response{Storable: storable, Shareable: shareable, Length: -1})
		if _, o, _ := b.Wait(Patience{Most: time.Hour}, nil); o != Released {
			t.Errorf("follower: got %v, want Released", o)
		}
		if h, o, _ := a.Wait(Patience{Most: time.Hour}, nil); o != Shared || h != "h" {
			t.Errorf("leader: got %v %q, want Shared", o, h)
		}
		if r, leads := table.Join(1, 1, Admission{}); !leads {
			t.Error("still takes followers")
		} else {
			r.Close()
		}
		if _, store := stored(a.Flight()); store != storable {
			t.Errorf("stored %v, want %v", store, storable)
		}
		b.Close()
		a.Flight().Finish(nil)
		a.Close()
	}
	f(false, false)
	f(false, true)
	f(true, false)
}

func TestAFollowerWaitsForTheHeaderWithALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		a, _ := table.Join(1, 1, Admission{})
		b, _ := table.Join(1, 1, Admission{})
		start := time.Now()
		if _, o, _ := b.Wait(Patience{Most: 5 * time.Second}, nil); o != TimedOut {
			t.Errorf("got %v, want TimedOut", o)
		}
		if d := time.Since(start); d != 5*time.Second {
			t.Errorf("waited %v, want 5s", d)
		}
		b.Close()
		a.Close()
		a.Flight().Finish(errors.New("over"))
		table.Close()
	})
}

func TestFailureBeforeTheHeaderReachesEveryReader(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	b, _ := table.Join(1, 1, Admission{})
	boom := errors.New("boom")
	table.Go(a, func(f *Flight[int, string]) { f.Finish(boom) }, nil)
	for _, r := range []*Reader[int, string]{a, b} {
		if _, o, err := r.Wait(Patience{Most: time.Hour}, nil); o != Failed || !errors.Is(err, boom) {
			t.Errorf("got %v %v, want Failed boom", o, err)
		}
		r.Close()
	}
	table.Close()
}

func TestABrokenBodyIsBrokenForEveryReaderAndNotStored(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{Leading: true})
	b, _ := table.Join(1, 1, Admission{})
	a.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
	send(a.Flight(), []byte("part"), 10, false)
	a.Flight().Finish(io.ErrUnexpectedEOF)
	for _, r := range []*Reader[int, string]{a, b} {
		got, err := io.ReadAll(r)
		if string(got) != "part" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %q, %v, want the part and its error", got, err)
		}
		r.Close()
	}
}

func TestAPanicInTheFetchFailsTheFlight(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	var seen *PanicError
	table.Go(a, func(*Flight[int, string]) { panic("boom") }, func(e *PanicError) { seen = e })
	_, o, err := a.Wait(Patience{}, nil)
	var pe *PanicError
	if o != Failed || !errors.As(err, &pe) || pe.Value != "boom" || len(pe.Stack) == 0 {
		t.Errorf("got %v %v, want Failed with the panic", o, err)
	}
	a.Close()
	table.Close()
	if seen == nil {
		t.Error("the panic was not reported")
	}
}

func TestLeaving(t *testing.T) {
	f := func(what string, admitted, storable bool, stays int, want bool) {
		t.Helper()
		table := newTestTable()
		a, _ := table.Join(1, 1, Admission{Leading: admitted})
		b, _ := table.Join(1, 1, Admission{})
		a.Flight().Publish("", Response{Storable: storable, Shareable: true, Length: -1})
		if stays == 0 {
			b.Close()
		}
		a.Close()
		if got := a.Flight().Context().Err() == nil; got != want {
			t.Errorf("%s: fetch goes on %v, want %v", what, got, want)
		}
		b.Close()
		a.Flight().Finish(nil)
	}
	f("another reads", false, true, 1, true)
	f("nobody reads, to be stored", true, true, 0, true)
	f("nobody reads, held back", false, true, 0, false)
	f("nobody reads, not storable", true, false, 0, false)
}

func TestAReaderThatLeavesLetsTheFetchGoOn(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	f := a.Flight()
	f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
	copy(f.Space(2), "ab")
	f.Commit(2, false)
	p := make([]byte, 2)
	if n, err := a.Read(p); n != 2 || err != nil {
		t.Fatalf("got %d bytes and %v, want 2 and none", n, err)
	}
	a.Leave()
	if err := f.Context().Err(); err != nil {
		t.Errorf("the fetch of what was wanted to its end has ended: %v", err)
	}
	f.Finish(nil)
}

func TestLeavingBeforeTheHeaderEndsAnUnadmittedFetch(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	done := make(chan error, 1)
	table.Go(a, func(f *Flight[int, string]) {
		<-f.Context().Done()
		f.Finish(f.Context().Err())
		done <- f.Context().Err()
	}, nil)
	a.Close()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	table.Close()
}

func TestPurgeKeepsAFlightFromBeingStored(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 7, Admission{Leading: true})
	b := table.Lead(2, 7, true, netip.Prefix{})
	c, _ := table.Join(3, 8, Admission{Leading: true})
	if n := table.Purge(7); n != 2 {
		t.Errorf("purged %d flights, want 2", n)
	}
	for r, want := range map[*Reader[int, string]]bool{a: false, b: false, c: true} {
		r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
		if _, store := stored(r.Flight()); store != want || r.Flight().Purged() == want {
			t.Errorf("stored %v, want %v", store, want)
		}
		r.Flight().Finish(nil)
		r.Close()
	}
}

func TestFilledFlightSendsItsFollowersToTheStore(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	b, _ := table.Join(1, 1, Admission{})
	a.Flight().Fill()
	if _, o, err := b.Wait(Patience{Most: time.Hour}, nil); o != Filled || err != nil {
		t.Errorf("got %v %v, want Filled", o, err)
	}
	a.Close()
	b.Close()
	if table.Len() != 0 {
		t.Error("the flight is still there")
	}
}

func TestABodyOverTheLimitGoesOnInAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		body := randomBody(testLimit * 4)
		a, _ := table.Join(1, 1, Admission{Leading: true})
		b, _ := table.Join(1, 1, Admission{})
		var sent int
		table.Go(a, func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
			for sent < len(body) {
				room := f.Space(-1)
				n := copy(room, body[sent:])
				sent += n
				f.Commit(n, false)
			}
			if _, store := stored(f); store {
				t.Error("stored over the limit")
			}
			f.Finish(nil)
		}, nil)
		synctest.Wait()
		if sent > testLimit+1+windowBytes+windowChunk {
			t.Errorf("ran %d bytes ahead of readers that read nothing", sent)
		}
		if r, leads := table.Join(1, 1, Admission{}); !leads {
			t.Error("takes followers beyond the limit")
		} else {
			r.Flight().Finish(nil)
			r.Close()
		}
		var wg sync.WaitGroup
		for i, r := range []*Reader[int, string]{a, b} {
			wg.Go(func() {
				got, err := io.ReadAll(&paced{r: r, pause: time.Duration(i) * time.Millisecond})
				switch {
				case i == 0 && (err != nil || !bytes.Equal(got, body)):
					t.Errorf("the fast reader: got %d bytes, %v", len(got), err)
				case i == 1 && (!errors.Is(err, ErrBehind) || !bytes.HasPrefix(body, got)):
					t.Errorf("the slow reader: got %d bytes, %v; want a part of them, and ErrBehind", len(got), err)
				}
				r.Close()
			})
		}
		wg.Wait()
		table.Close()
		if used := table.budget.Used(); used != 0 {
			t.Errorf("%d bytes of the budget still taken", used)
		}
	})
}

// paced reads with a pause in virtual time before each read.
type paced struct {
	r     io.Reader
	pause time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	time.Sleep(p.pause)
	return p.r.Read(b)
}

func TestABodyOfExactlyTheLimitAndUnknownLengthIsStored(t *testing.T) {
	f := func(size int, want bool) {
		t.Helper()
		table := newTestTable()
		r, _ := table.Join(1, 1, Admission{Leading: true})
		r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
		send(r.Flight(), randomBody(size), 1<<20, false)
		if want {
			r.Flight().Space(-1) // where the fetch sees the end
		}
		if b, store := stored(r.Flight()); store != want || want && len(b) != size {
			t.Errorf("%d bytes: stored %v, want %v", size, store, want)
		}
		r.Flight().Finish(nil)
		r.Close()
	}
	f(testLimit, true)
	f(testLimit+1, false)
}

func TestTheBudgetBoundsAllFlightsTogether(t *testing.T) {
	table := tableOf(100<<10, nil)
	var readers []*Reader[int, string]
	kept := 0
	for i := range 20 {
		r, _ := table.Join(i, i, Admission{Leading: true})
		r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
		send(r.Flight(), randomBody(30<<10), 1<<20, true)
		if used := table.budget.Used(); used > 100<<10 {
			t.Fatalf("%d bytes taken, want at most the budget", used)
		}
		if _, store := stored(r.Flight()); store {
			kept++
		}
		r.Flight().Finish(nil)
		readers = append(readers, r)
	}
	if kept != 3 {
		t.Errorf("%d bodies kept whole, want the 3 that fit", kept)
	}
	for _, r := range readers {
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, randomBody(30<<10)) {
			t.Errorf("got %d bytes, %v, want the whole body", len(got), err)
		}
		r.Close()
	}
	if used := table.budget.Used(); used != 0 {
		t.Errorf("%d bytes still taken", used)
	}
}

func TestClosedTable(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{Leading: true})
	table.Go(a, func(f *Flight[int, string]) {
		<-f.Context().Done()
		f.Finish(f.Context().Err())
	}, nil)
	table.Close()
	if _, o, _ := a.Wait(Patience{}, nil); o != Failed {
		t.Errorf("running flight: got %v, want Failed", o)
	}
	b, _ := table.Join(2, 2, Admission{})
	table.Go(b, func(*Flight[int, string]) { t.Error("fetched after Close") }, nil)
	if _, o, err := b.Wait(Patience{}, nil); o != Failed || !errors.Is(err, ErrClosed) {
		t.Errorf("new flight: got %v %v, want Failed ErrClosed", o, err)
	}
}

func TestJoinLeaveAndFinishTogether(t *testing.T) {
	table := newTestTable()
	body := randomBody(200_000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for range 200 {
				key := r.IntN(3)
				reader, leads := table.Join(key, key, Admission{Leading: r.IntN(2) == 0, Following: true})
				if leads {
					table.Go(reader, func(f *Flight[int, string]) {
						f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
						send(f, body, 50_000, true)
						if f.Context().Err() == nil {
							f.Whole(false)
							f.Finish(nil)
							return
						}
						f.Finish(io.ErrUnexpectedEOF)
					}, nil)
				}
				if _, o, err := reader.Wait(Patience{Most: time.Hour}, nil); o != Shared {
					t.Errorf("got %v %v, want Shared", o, err)
				}
				if r.IntN(3) == 0 {
					_, _ = reader.Next()
				} else if got, err := io.ReadAll(reader); err == nil && !bytes.Equal(got, body) {
					t.Errorf("got %d bytes without an error, want %d", len(got), len(body))
				}
				reader.Close()
			}
		})
	}
	wg.Wait()
	table.Close()
	if used, n := table.budget.Used(), table.Len(); used != 0 || n != 0 {
		t.Errorf("%d bytes and %d flights left", used, n)
	}
}

func TestMarks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := NewMarks(now, func(k int) uint64 { return uint64(k) })
	if m.Has(0, now) {
		t.Error("an empty table has the zero key")
	}
	m.Set(5, now.Add(10*time.Second))
	if !m.Has(5, now.Add(9*time.Second)) || m.Has(5, now.Add(10*time.Second)) {
		t.Error("the mark does not last from now until its end")
	}
	if m.Has(5+markSlots, now) {
		t.Error("a key has the mark of another in its slot")
	}
	m.Clear(5 + markSlots)
	if !m.Has(5, now) {
		t.Error("clearing one key cleared another")
	}
	m.Clear(5)
	if m.Has(5, now) {
		t.Error("cleared mark is still there")
	}
}

// A flight that outgrows the limit is unlisted before its beginning may go: who
// joins in between still reads all of it.
func TestJoiningJustAsTheBodyOutgrowsTheLimitReadsFromTheStart(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{Leading: true})
	f := a.Flight()
	f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
	body := randomBody(testLimit + 1)
	send(f, body, 1<<20, false)
	if _, need, _ := f.body.space(-1); need != needWindow {
		t.Fatal("the body has not outgrown the limit")
	}
	b, leads := table.Join(1, 1, Admission{}) // before the fetch goes on
	if leads {
		t.Fatal("the flight takes no followers yet, or not any more")
	}
	if _, err := io.ReadFull(a, make([]byte, len(body))); err != nil {
		t.Fatal(err)
	}
	a.Close()
	var got []byte
	var err error
	var reading sync.WaitGroup
	reading.Go(func() { got, err = io.ReadAll(b) })
	f.Commit(copy(f.Space(-1), "end"), false)
	f.Finish(nil)
	reading.Wait()
	if want := string(body) + "end"; err != nil || string(got) != want {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	b.Close()
}

func TestAPurgedFlightThatNobodyReadsEnds(t *testing.T) {
	f := func(what string, steps ...func(*Table[int, string], *Reader[int, string])) {
		t.Helper()
		table := newTestTable()
		r, _ := table.Join(1, 7, Admission{Leading: true})
		r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
		for _, step := range steps {
			step(table, r)
		}
		if r.Flight().Context().Err() == nil {
			t.Errorf("%s: the fetch goes on", what)
		}
		r.Flight().Finish(nil)
	}
	purge := func(t *Table[int, string], _ *Reader[int, string]) { t.Purge(7) }
	leave := func(_ *Table[int, string], r *Reader[int, string]) { r.Close() }
	f("purged, then left", purge, leave)
	f("left, then purged", leave, purge)
}

// TestCloseWaitsForNoReader: a fetch that is paced by a client that takes nothing held up
// the end of the process for as long as that client stayed.
func TestCloseWaitsForNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		r, _ := table.Join(1, 1, Admission{Leading: true})
		table.Go(r, func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: false, Shareable: false, Length: -1})
			for f.Context().Err() == nil {
				f.Commit(len(f.Space(-1)), false)
			}
			f.Finish(f.Context().Err())
		}, nil)
		synctest.Wait() // the reader is behind by all that a fetch may run ahead
		table.Close()
		if n := table.Len(); n != 0 {
			t.Errorf("%d flights left, want none", n)
		}
		_ = r.Close()
	})
}
