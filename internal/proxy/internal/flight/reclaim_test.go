package flight

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestABodyWasTakenApartOnItsWayToTheStage: others took back memory of a body that was whole and
// about to be made one piece.
func TestABodyWasTakenApartOnItsWayToTheStage(t *testing.T) {
	const budget, length = 512 << 10, 256 << 10
	table := NewTable[int, string](Options{Budget: NewBudget(budget, 1), ObjectBytes: testLimit, Ahead: budget})
	r, _ := table.Join(1, 1, Admission{})
	f, want := r.Flight(), randomBody(length)
	f.Publish("", Response{Storable: true, Shareable: true, Length: length})
	send(f, want, testLimit, true)
	for range length/maxChunk - 1 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	other, _ := table.Join(2, 2, Admission{Leading: true})
	got, kept := f.Whole(true)
	other.Flight().Publish("", Response{Storable: true, Shareable: true, Length: budget - length + 1})
	if again := f.body.bytes(); kept != HeldBack || !bytes.Equal(got, want) || !bytes.Equal(again, want) {
		t.Errorf("got %d bytes, %v; a moment later %d; want all %d", len(got), kept, len(again), length)
	}
	if other.Secured() {
		t.Error("another flight has got memory of a body that is on its way to the stage")
	}
	f.Finish(nil)
	_, _ = r.Close(), other.Close()
	other.Flight().Finish(nil)
	table.Close()
	if used := table.budget.Used(); used != 0 {
		t.Errorf("%d bytes left", used)
	}
}

// TestAFlightTookMemoryBackFromItself: a follower admitted what was a first sighting so far. The
// only body that could make room for all of it was that very body, of which a part was gone then.
func TestAFlightTookMemoryBackFromItself(t *testing.T) {
	const budget, written, length = 512 << 10, 256 << 10, 600 << 10
	table := NewTable[int, string](Options{Budget: NewBudget(budget, 1), ObjectBytes: testLimit, Ahead: budget})
	r, _ := table.Join(1, 1, Admission{})
	f, body := r.Flight(), randomBody(written)
	f.Publish("", Response{Storable: true, Shareable: true, Length: length})
	send(f, body, testLimit, false)
	for range written / maxChunk {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if follower, ok := table.Follow(1, Admission{Following: true}); ok {
		p, err := follower.Next()
		t.Errorf("joined with room for %d of %d bytes; then got %d bytes, %v", budget, length, len(p), err)
		_ = follower.Close()
	}
	if !f.KeptWhole() {
		t.Error("the first sighting gave up what only it needed")
	}
	_ = r.Close()
	f.Finish(nil)
	table.Close()
}

// TestAFileWasLeftOpenWhereMemoryWasTakenBack: the body had ended, and its only reader had been
// left behind and was still to leave.
func TestAFileWasLeftOpenWhereMemoryWasTakenBack(t *testing.T) {
	const budget = 256 << 10
	file := &hooked{memory: memory{room: 1 << 30}}
	table := NewTable[int, string](Options{
		Budget: NewBudget(budget, 1), ObjectBytes: testLimit, Ahead: windowBytes,
		Spool: func() (SpoolFile, error) { return file, nil },
	})
	slow, _ := table.Join(1, 1, Admission{})
	slow.Flight().Publish("", Response{Storable: true, Shareable: true, Resumable: true, Length: -1})
	send(slow.Flight(), randomBody(2*budget), testLimit, false)
	slow.Flight().Finish(nil)
	file.reads = func() { file.b = nil } // the disk fails
	if _, err := slow.Next(); !errors.Is(err, ErrBehind) {
		t.Fatalf("got %v, want to be behind", err)
	}
	stored, _ := table.Join(2, 2, Admission{Leading: true})
	stored.Flight().Publish("", Response{Storable: true, Shareable: true, Length: budget - table.budget.Used() + 1})
	if !stored.Secured() {
		t.Fatal("the memory of a body that nobody reads was not taken back")
	}
	_ = slow.Close()
	if !file.closed {
		t.Error("the file is still open, and takes from the bound of all files")
	}
	_ = stored.Close()
	stored.Flight().Finish(nil)
	table.Close()
}

// TestAFileWasLeftOpenByAReaderThatMovedOn to the flight that was first, from another one that
// had ended meanwhile.
func TestAFileWasLeftOpenByAReaderThatMovedOn(t *testing.T) {
	file := &hooked{memory: memory{room: 1 << 30}}
	table := NewTable[int, string](Options{
		Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit, Ahead: windowBytes,
		Spool: func() (SpoolFile, error) { return file, nil },
	})
	leader, _ := table.Join(1, 1, Admission{})
	anew, _ := table.Join(1, 1, Admission{})
	waits, _ := table.Join(1, 1, Admission{})
	if _, o, err := anew.Wait(Patience{Lead: 1}, nil); o != LeadAnew || err != nil {
		t.Fatalf("got %v, %v; want to lead anew", o, err)
	}
	first := leader.Flight()
	first.Judge() // its leader keeps to it
	anew.Flight().Publish("anew", Response{Storable: true, Shareable: true, Length: 0})
	first.Publish("", Response{Storable: true, Shareable: true, Length: -1})
	send(first, randomBody(4*windowBytes), testLimit, false)
	first.Finish(nil)
	anew.Flight().Finish(nil)
	_, _ = leader.Close(), anew.Close()
	if h, o, err := waits.Wait(Patience{}, nil); h != "anew" || o != Shared || err != nil {
		t.Fatalf("got %q, %v, %v", h, o, err)
	}
	_ = waits.Close()
	table.Close()
	if used := table.budget.Used(); used != 0 || !file.closed {
		t.Errorf("%d bytes left, file closed %v", used, file.closed)
	}
}

// TestAClientAtItsShareHadAllFlightsLookedAt: what others could give back does not help it, and
// the table was locked meanwhile.
func TestAClientAtItsShareHadAllFlightsLookedAt(t *testing.T) {
	const budget = 1 << 20
	table := NewTable[int, string](Options{Budget: NewBudget(budget, 0.5), ObjectBytes: testLimit, Ahead: windowBytes})
	loose, _ := table.Join(1, 1, Admission{})
	loose.Flight().Publish("", Response{Storable: true, Shareable: true, Length: -1})
	one := netip.MustParsePrefix("192.0.2.1/32")
	err := errors.Join(table.budget.Take(budget*3/4, one), table.budget.Take(1, netip.Prefix{}))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := table.Join(2, 2, Admission{Leading: true, Client: one})
	done := make(chan struct{})
	loose.Flight().body.mu.Lock()
	go func() {
		r.Flight().Publish("", Response{Storable: true, Shareable: true, Length: 1})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(testkit.Patience):
		t.Error("waited for a flight that cannot help")
	}
	loose.Flight().body.mu.Unlock()
	<-done
	if r.Secured() {
		t.Error("got memory beyond its share")
	}
	table.budget.Give(budget*3/4, one)
	table.budget.Give(1, netip.Prefix{})
	for _, r := range []*Reader[int, string]{loose, r} {
		_ = r.Close()
		r.Flight().Finish(nil)
	}
	table.Close()
}
