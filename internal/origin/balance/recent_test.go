package balance

import (
	"testing"
	"time"
)

// breaking ejects by half of ten requests within ten seconds, for three targets.
func breaking() *Balancer {
	return New(Options{
		Servers: servers(1, 1),
		Ejection: Ejection{
			Failures: 3, Ratio: 0.5, Window: 10 * time.Second, Requests: 10, Targets: 3,
			Backoff: 10 * time.Second, MaxBackoff: 40 * time.Second,
		},
	})
}

// play gives a request to server 0 for each letter: a dot is answered, any other breaks
// and is its target. It returns which request ejected the server, 0 for none.
func play(t *testing.T, b *Balancer, now time.Time, each time.Duration, letters string) int {
	t.Helper()
	for i, l := range letters {
		_, ticket, ok := b.Choose(now, only(0), 0)
		if !ok {
			t.Fatalf("request %d: no server", i)
		}
		if l == '.' {
			b.Succeeded(0, ticket, now)
		} else if b.Broke(0, ticket, uint64(l), now) {
			return i + 1
		}
		now = now.Add(each)
	}
	return 0
}

// Five requests in a row for one URL that made a server hang up took it from everybody.
func TestRequestsThatBreakEjectByShareAndTargets(t *testing.T) {
	f := func(name, letters string, each time.Duration, want int) {
		t.Helper()
		if got := play(t, breaking(), start, each, letters); got != want {
			t.Errorf("%s: ejected by request %d, want %d", name, got, want)
		}
	}
	f("one target", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 0)
	f("two targets", "abababababababababababababab", 0, 0)
	f("three targets", "abcabcabcabc", 0, 10)
	f("too few requests", "abcabcabc", 0, 0)
	f("too small a share", "abcd.........abcd.........", 0, 0)
	f("half", ".....abcde", 0, 10)
	f("half is reached late", "......abcdef", 0, 12)
	f("the good ones are forgotten", "....................abcdefghij", time.Second, 25)
	f("targets are forgotten", "abaaaaaaaaaaac", time.Second, 0)
	f("slow, beyond the window", "abcdefghijklmnop", 2*time.Second, 0)
}

// A connection that could be made is in a row with none that could not.
func TestBreaksDoNotCountAsConnects(t *testing.T) {
	b := breaking()
	fail(t, b, 0, 2, start)
	play(t, b, start, 0, "aa")
	wantState(t, b, 0, start, Up, 0)
	if !fail(t, b, 0, 1, start) {
		t.Error("want three that could not connect to eject the server")
	}
}

// The trial goes to what a client asks for, which may be what breaks.
func TestTrialThatBreaksLastsAsLongAgain(t *testing.T) {
	b := breaking()
	if play(t, b, start, 0, "abcabcabcabc") == 0 {
		t.Fatal("not ejected")
	}
	now := start
	for range 3 {
		wantState(t, b, 0, now, Ejected, 10*time.Second)
		now = now.Add(10 * time.Second)
		_, ticket, _ := b.Choose(now, only(0), 0)
		if b.Broke(0, ticket, 'a', now) {
			t.Error("a trial began an ejection")
		}
	}
	fail(t, b, 0, 1, now.Add(10*time.Second))
	wantState(t, b, 0, now.Add(10*time.Second), Ejected, 20*time.Second)
	now = now.Add(30 * time.Second)
	_, ticket, _ := b.Choose(now, only(0), 0)
	if !b.Succeeded(0, ticket, now) {
		t.Error("want the trial to end the ejection")
	}
	if got := play(t, b, now, 0, "abcabcab"); got != 0 {
		t.Errorf("request %d ejected it again: want what broke before forgotten", got)
	}
}

func TestShareMayBeOff(t *testing.T) {
	b := New(Options{Servers: servers(1, 1), Ejection: Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Second}})
	if got := play(t, b, start, 0, "abcdefghijklmnopqrstuvwxyz"); got != 0 {
		t.Errorf("ejected by request %d, want never", got)
	}
	b = New(Options{Servers: servers(1, 1), Ejection: Ejection{Ratio: 1, Window: time.Second, Requests: 2, Targets: 1, Backoff: time.Second, MaxBackoff: time.Second}})
	if fail(t, b, 0, 99, start) {
		t.Error("ejected by failures to connect, want never")
	}
	if got := play(t, b, start, 0, "ab"); got != 2 {
		t.Errorf("ejected by request %d, want 2", got)
	}
}
