package balance

import (
	"testing"
	"time"
)

// two are two servers, ejected after three failures for 10s to 40s.
func two(refuse bool) *Balancer {
	return New(Options{
		Servers:  servers(1, 1),
		Ejection: Ejection{Failures: 3, Backoff: 10 * time.Second, MaxBackoff: 40 * time.Second, Refuse: refuse},
		Health:   Health{Healthy: 2, Unhealthy: 3},
	})
}

// only are the loads for a choice of one server.
func only(index int) []Load {
	loads := []Load{{Not: true}, {Not: true}}
	loads[index].Not = false
	return loads
}

// fail gives requests to a server and lets them fail.
func fail(t *testing.T, b *Balancer, index, times int, now time.Time) (ejected bool) {
	t.Helper()
	for range times {
		i, ticket, ok := b.Choose(now, only(index), 0)
		if !ok || i != index {
			t.Fatalf("got server %d, %v, want %d", i, ok, index)
		}
		ejected = b.Failed(i, ticket, now)
	}
	return ejected
}

func wantState(t *testing.T, b *Balancer, index int, now time.Time, want State, wantFor time.Duration) {
	t.Helper()
	if state, d := b.State(index, now); state != want || d != wantFor {
		t.Errorf("server %d: got %v for %v, want %v for %v", index, state, d, want, wantFor)
	}
}

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func TestFailuresInARowEject(t *testing.T) {
	b := two(false)
	if fail(t, b, 0, 2, start) {
		t.Error("ejected after two failures, want three")
	}
	i, ticket, _ := b.Choose(start, only(0), 0)
	b.Succeeded(i, ticket, start)
	if fail(t, b, 0, 2, start) {
		t.Error("ejected after two failures behind a success, want three in a row")
	}
	if !fail(t, b, 0, 1, start) {
		t.Error("not ejected after three failures")
	}
	wantState(t, b, 0, start, Ejected, 10*time.Second)
	if got := turns(b, 4, Load{}, Load{}); got != "bbbb" {
		t.Errorf("got %s, want only the other server", got)
	}
}

func TestTrialIsASingleRequest(t *testing.T) {
	b := two(false)
	fail(t, b, 0, 3, start)
	count := 0
	var trial Ticket
	for range 20 {
		i, ticket, _ := b.Choose(at(10), []Load{{}, {}}, 0)
		if i == 0 {
			count, trial = count+1, ticket
		}
	}
	if count != 1 {
		t.Fatalf("got %d requests for the ejected server when its time is over, want 1", count)
	}
	if !b.Succeeded(0, trial, start) {
		t.Error("the trial succeeded: want the ejection to end by it")
	}
	wantState(t, b, 0, at(10), Up, 0)
}

// A trial that never ends, as that of a client that left, keeps nothing out for good.
func TestTrialWithoutAnEndIsRepeated(t *testing.T) {
	b := two(false)
	fail(t, b, 0, 3, start)
	if got := turnsAt(b, at(10), 4); got != 1 {
		t.Errorf("got %d trials, want 1", got)
	}
	if got := turnsAt(b, at(19), 4); got != 0 {
		t.Errorf("got %d trials while one is under way, want 0", got)
	}
	if got := turnsAt(b, at(20), 4); got != 1 {
		t.Errorf("got %d trials after the backoff, want 1", got)
	}
}

// turnsAt counts the requests that server 0 gets of n.
func turnsAt(b *Balancer, now time.Time, n int) (count int) {
	for range n {
		if i, _, _ := b.Choose(now, []Load{{}, {}}, 0); i == 0 {
			count++
		}
	}
	return count
}

func TestBackoffDoublesUpToItsLimit(t *testing.T) {
	b := two(false)
	fail(t, b, 0, 3, start)
	now := start
	for _, want := range []int{10, 20, 40, 40} {
		wantState(t, b, 0, now, Ejected, time.Duration(want)*time.Second)
		now = now.Add(time.Duration(want) * time.Second)
		fail(t, b, 0, 1, now)
	}
	_, ticket, _ := b.Choose(now.Add(40*time.Second), only(0), 0)
	b.Succeeded(0, ticket, start)
	fail(t, b, 0, 3, now)
	wantState(t, b, 0, now, Ejected, 10*time.Second) // a first ejection, for the count began anew
}

// A hundred requests were on their way when the server was ejected: what becomes
// of them is known already.
func TestRequestsBeforeAnEjectionSayNothing(t *testing.T) {
	b := two(false)
	var before []Ticket
	for range 100 {
		_, ticket, _ := b.Choose(start, only(0), 0)
		before = append(before, ticket)
	}
	for i, ticket := range before {
		if got := b.Failed(0, ticket, start); got != (i == 2) {
			t.Fatalf("failure %d: got ejected %v", i+1, got)
		}
	}
	wantState(t, b, 0, start, Ejected, 10*time.Second)
	if b.Succeeded(0, before[50], start) {
		t.Error("a request given out before ended the ejection")
	}
}

// A hundred requests hung when the server was ejected, and end when it is back: that
// they do, well or badly, is no news then either.
func TestRequestsBeforeAnEjectionSayNothingAfterIt(t *testing.T) {
	b := two(false)
	var before []Ticket
	for range 100 {
		_, ticket, _ := b.Choose(start, only(0), 0)
		before = append(before, ticket)
	}
	fail(t, b, 0, 3, start)
	_, trial, _ := b.Choose(at(10), only(0), 0)
	if !b.Succeeded(0, trial, start) {
		t.Fatal("the trial succeeded: want the ejection to end by it")
	}
	for _, ticket := range before[:99] {
		if b.Failed(0, ticket, at(11)) {
			t.Fatal("requests given out before the ejection ejected the server once more")
		}
	}
	fail(t, b, 0, 2, at(11))
	b.Succeeded(0, before[99], start)
	if !fail(t, b, 0, 1, at(11)) {
		t.Error("a request given out before the ejection made up for failures after it")
	}
}

func TestAllEjectedAreTriedOrRefused(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		b := two(refuse)
		fail(t, b, 0, 3, start)
		if b.Refuses(start) {
			t.Error("one server is left: want it to be used")
		}
		fail(t, b, 1, 3, start)
		if b.Refuses(start) != refuse {
			t.Errorf("refuse %v: got %v", refuse, b.Refuses(start))
		}
		want := map[bool]string{false: "abab", true: "----"}[refuse]
		if got := turns(b, 4, Load{}, Load{}); got != want {
			t.Errorf("refuse %v: got %s, want %s", refuse, got, want)
		}
	}
	b := two(true)
	fail(t, b, 0, 3, start)
	fail(t, b, 1, 3, at(1))
	if i, _, ok := b.Choose(at(10), []Load{{}, {}}, 0); !ok || i != 0 || !b.Refuses(at(10)) {
		t.Errorf("got server %d, %v, want a trial of the first, and nothing else", i, ok)
	}
}

// Where all are tried anyway, one that answers is back at once.
func TestAnswerEndsAnEjection(t *testing.T) {
	b := two(false)
	fail(t, b, 0, 3, start)
	fail(t, b, 1, 3, start)
	i, ticket, _ := b.Choose(at(1), []Load{{}, {}}, 0)
	if !b.Succeeded(i, ticket, start) {
		t.Error("want the ejection to end")
	}
	wantState(t, b, i, at(1), Up, 0)
}

func TestNoEjectionIfOff(t *testing.T) {
	b := New(Options{Servers: servers(1, 1)})
	fail(t, b, 0, 100, start)
	wantState(t, b, 0, start, Up, 0)
}

func TestHealthChecksTakeOutAndBringBack(t *testing.T) {
	b := two(false)
	f := func(good, change bool, want State) {
		t.Helper()
		if got := b.Checked(0, good); got != change {
			t.Errorf("check %v: got change %v, want %v", good, got, change)
		}
		wantState(t, b, 0, start, want, 0)
	}
	f(false, false, Up)
	f(false, false, Up)
	f(true, false, Up)
	f(false, false, Up)
	f(false, false, Up)
	f(false, true, Down)
	if got := turns(b, 2, Load{}, Load{}); got != "bb" {
		t.Errorf("got %s, want only the other server", got)
	}
	f(true, false, Down)
	f(false, false, Down)
	f(true, false, Down)
	f(true, true, Up)
}

// A request that no connection could be made for to the one server that is up is
// not for one that is down, but may be for one that is ejected.
func TestTriedServerIsNotOut(t *testing.T) {
	f := func(name string, out func(*Balancer), refuse, want bool) {
		t.Helper()
		b := two(refuse)
		out(b)
		if _, _, ok := b.Choose(start, []Load{{}, {Not: true}}, 0); ok != want {
			t.Errorf("the other server is up, and was tried: got the one that is %s %v, want %v", name, ok, want)
		}
	}
	down := func(b *Balancer) {
		for range 3 {
			b.Checked(0, false)
		}
	}
	f("down", down, false, false)
	f("down", down, true, false)
	f("ejected", func(b *Balancer) { fail(t, b, 0, 3, start) }, false, true)
	f("ejected", func(b *Balancer) { fail(t, b, 0, 3, start) }, true, false)
	f("down, too", func(b *Balancer) {
		down(b)
		fail(t, b, 1, 3, start)
	}, false, true)
}

// Requests do not bring back what checks took out.
func TestAnswersDoNotEndDown(t *testing.T) {
	b := two(false)
	_, ticket, _ := b.Choose(start, only(0), 0)
	for range 3 {
		b.Checked(0, false)
	}
	b.Succeeded(0, ticket, start)
	wantState(t, b, 0, start, Down, 0)
}

// An outage of everything: what fails while all are tried anyway makes no ejection
// longer, and when the first server answers the others are asked at once.
func TestCommonOutageEndsForAll(t *testing.T) {
	b := New(Options{
		Servers:  servers(1, 1, 1),
		Ejection: Ejection{Failures: 1, Backoff: 10 * time.Second, MaxBackoff: 5 * time.Minute},
	})
	all := make([]Load, 3)
	for range 1000 {
		i, ticket, _ := b.Choose(start, all, 0)
		b.Failed(i, ticket, start)
	}
	for i := range all {
		wantState(t, b, i, start, Ejected, 10*time.Second)
	}
	i, ticket, _ := b.Choose(at(2), all, 0)
	if !b.Succeeded(i, ticket, start) {
		t.Fatal("want the ejection of the first to end")
	}
	seen := map[int]int{}
	for range 30 {
		i, ticket, _ := b.Choose(at(2), all, 0)
		b.Succeeded(i, ticket, start)
		seen[i]++
	}
	for i := range all {
		if seen[i] < 9 {
			t.Errorf("got %v requests of 30 for each server, want them spread again", seen)
		}
	}
}
