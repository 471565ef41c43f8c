package proxy

import (
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/proxy/internal/flight"
)

// keyLearner is a request that looks the store up once more when it leads, and learns there that
// what it wants goes by another key.
type keyLearner struct {
	wanted
	t       testing.TB
	flights *flight.Table[cache.Key, *outcome]
	key     cache.Key
	led     []cache.Key
	waiting *reader // another request waits by it
}

func (l *keyLearner) join() (r *reader, leads bool) {
	r, leads = l.flights.Join(l.key, l.key, flight.Admission{})
	if l.waiting == nil {
		l.waiting, _ = l.flights.Follow(l.key, flight.Admission{})
	}
	return r, leads
}

func (l *keyLearner) findStored() bool        { l.key.Lo = 1; return false }
func (l *keyLearner) keyMoved(r *reader) bool { return r.Flight().Key() != l.key }
func (l *keyLearner) lead(r *reader, _ bool) bool {
	l.led = append(l.led, r.Flight().Key())
	r.Flight().Answer(&outcome{})
	return false
}

func (l *keyLearner) wait(r *reader) (*outcome, flight.Outcome, error) {
	return r.Wait(flight.Patience{}, func(*outcome) bool { return true })
}
func (l *keyLearner) answers(*outcome, bool) bool        { return true }
func (l *keyLearner) count(*reader, *outcome, bool) bool { return true }
func (l *keyLearner) take(r *reader, _ *outcome, leads bool) {
	if _ = r.Close(); !leads {
		l.t.Error("got another's answer")
	}
}

// TestAKeyThatChangesBeforeTheFetchIsFetchedOnce: a request looks up before it is known what the
// URL varies by. It does not lead a second fetch for the variant, which would be written twice.
func TestAKeyThatChangesBeforeTheFetchIsFetchedOnce(t *testing.T) {
	l := &keyLearner{t: t, flights: flight.NewTable[cache.Key, *outcome](flight.Options{Budget: flight.NewBudget(1<<20, 1), ObjectBytes: 1 << 10})}
	defer l.flights.Close()
	new(Proxy).share(l)
	if want := (cache.Key{Lo: 1}); len(l.led) != 1 || l.led[0] != want {
		t.Errorf("got flights led by %v, want one, by %v", l.led, want)
	}
	if _, o, err := l.waiting.Wait(flight.Patience{}, nil); o != flight.Filled || err != nil {
		t.Errorf("who waited by the old key: got %v %v, want to look again", o, err)
	}
	_ = l.waiting.Close()
	if n := l.flights.Len(); n != 0 {
		t.Errorf("got %d flights, want none", n)
	}
}
