//go:build linux

package fair

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// attack is what clients do who are not honest.
type attack struct {
	name      string
	soak      bool     // it takes too long for the usual tests
	edge      settings // the program's
	long      [2]time.Duration
	prepare   func(*scene)
	play      func(*wave)
	toEnd     bool          // the attack goes on until play returns, however slow the machine is
	meanwhile func(*wave)   // what the honest client wants besides
	check     func(*scene)  // what must have come of it, after the attack
	end       func(*scene)  // ends the program
	slowest   time.Duration // bounds the p99 of misses; 0 is none
}

// scene is an attack that is being played.
type scene struct {
	t      *testing.T
	a      attack
	origin *origin
	edge   *edge
	honest *honest

	mu     sync.Mutex
	waves  int            // so far
	again  bool           // times alone are measured again
	lasted time.Duration  // how long the attack has gone on
	notes  []string       // for the table
	seen   map[string]int // what the attackers of the real wave have seen
	wrong  []string       // what is wrong, for the table
}

// row is what the table says of an attack.
type row struct {
	name                    string
	before, control, during sample
	rssBefore, rss, bound   float64
	rssAfter                float64
	notes, wrong            []string
}

// stage plays an attack and returns what came of it. With a comeback program and origin
// outlast the test.
func stage(t *testing.T, a attack, back *comeback) *row {
	t.Helper()
	s, keep := &scene{t: t, a: a, seen: map[string]int{}}, testing.TB(t)
	if back != nil {
		keep = back.keep
	}
	s.origin = startOrigin(keep)
	s.edge = startEdge(keep, s.origin.address, a.edge)
	s.honest = newHonest(t, s.edge)
	s.honest.warm()
	if a.prepare != nil {
		a.prepare(s)
	}
	start := s.edge.level()
	r := &row{name: a.name, rssBefore: s.edge.rss()}
	if comparing {
		r.before = s.honest.load(t.Context(), beforeTime)
		r.control = s.control()
	}
	r.during = s.during(r)
	if a.check != nil {
		a.check(s)
	}
	s.repeat(r)
	s.judge(r)
	if a.end != nil {
		a.end(s)
	}
	s.honest.leave()
	s.comesBack(start)
	r.rssAfter = s.edge.rss()
	r.notes, r.wrong = s.notes, s.wrong
	back.later(s, r, start)
	return r
}

// long is how long the attack goes on.
func (s *scene) long() time.Duration {
	if comparing {
		return s.a.long[1]
	}
	return s.a.long[0]
}

// control plays the attack against a listener that only accepts.
func (s *scene) control() sample {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	var mu sync.Mutex
	var held []net.Conn
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			held = append(held, c)
			mu.Unlock()
		}
	})
	w := s.begin(l.Addr().String(), false)
	if s.a.meanwhile != nil {
		w.all.Go(func() { s.a.meanwhile(w) })
	}
	got := s.honest.load(s.t.Context(), min(s.long(), controlTime))
	w.end()
	l.Close()
	accepting.Wait()
	for _, c := range held {
		c.Close()
	}
	return got
}

// repetitions are how often what is too slow is measured again: a machine that has
// something else to do for a moment is too slow once, what the attack does comes again.
const repetitions = 2

// repeat measures again while the honest client is not served as it must be; where times
// are not compared, whatever they are.
func (s *scene) repeat(r *row) {
	s.again = true
	for range repetitions {
		if r.during.served() && (!comparing || s.inTime(r) && !s.slow(r)) {
			return
		}
		if !comparing {
			r.during = s.during(r)
			continue
		}
		control := s.control()
		during := s.during(r)
		if ratio(during, control) < ratio(r.during, r.control) {
			r.control.hits, r.during.hits = control.hits, during.hits
		}
		if during.served() && (!r.during.served() || during.misses99() < r.during.misses99()) {
			r.control.misses, r.during.misses, r.during.noMisses = control.misses, during.misses, during.noMisses
			r.during.noHits = during.noHits
		}
	}
}

func ratio(during, control sample) float64 {
	return float64(during.hits99()) / float64(max(control.hits99(), leastP99))
}

// inTime reports whether the p99 of hits is near that of the control.
func (s *scene) inTime(r *row) bool { return ratio(r.during, r.control) <= 3 }

// slow reports whether the p99 of misses is too long, where the attack is about that.
func (s *scene) slow(r *row) bool { return s.a.slowest > 0 && r.during.misses99() > s.a.slowest }

// during plays the attack itself.
func (s *scene) during(r *row) sample {
	begin := time.Now()
	w := s.begin(s.edge.host, true)
	watching, stop := context.WithCancel(s.t.Context())
	var beside sync.WaitGroup
	beside.Go(func() {
		rss, bound := s.edge.watch(watching)
		if r.rss = max(r.rss, rss); r.bound == 0 {
			r.bound = bound
		}
	})
	if s.a.meanwhile != nil {
		beside.Go(func() { s.a.meanwhile(w) })
	}
	got := s.honest.load(s.t.Context(), s.long())
	if s.a.toEnd {
		select {
		case <-w.played:
		case <-time.After(testkit.Patience):
		}
	}
	stop()
	w.end()
	s.lasted = time.Since(begin)
	beside.Wait()
	return got
}

// judge holds what was measured to what every attack is held to.
func (s *scene) judge(r *row) {
	if !r.during.served() {
		s.fail("%.1f %% of the honest misses were answered, want 90, and %.1f %% of the hits, want 99: %v",
			100*r.during.answered(), 100*r.during.hitsAnswered(), r.during.failures)
	}
	if r.rss > r.bound {
		s.fail("RSS: got %.0f MiB, want at most %.0f", r.rss/(1<<20), r.bound/(1<<20))
	}
	if line := s.edge.trouble(); line != "" {
		s.fail("the log says: %s", line)
	}
	if !comparing {
		return
	}
	if !s.inTime(r) {
		s.fail("p99 of honest hits: got %v, want at most 3 times the %v of the control", r.during.hits99(), r.control.hits99())
	}
	if s.slow(r) {
		s.fail("p99 of honest misses: got %v, want at most %v", r.during.misses99(), s.a.slowest)
	}
}

// fail fails the test and says why, also in the table.
func (s *scene) fail(format string, args ...any) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	s.t.Errorf(format, args...)
}

// note says something in the table.
func (s *scene) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again {
		return
	}
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// count returns how often the attackers have seen something.
func (s *scene) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[what]
}

// wave are the attackers of one attack, against the program or the control.
type wave struct {
	s      *scene
	host   string
	real   bool
	number int             // the wave's, so that each asks for other things
	ctx    context.Context // ends with the attack
	stop   context.CancelFunc
	all    sync.WaitGroup
	played chan struct{} // closed when play has returned
}

func (s *scene) begin(host string, isReal bool) *wave {
	s.waves++
	w := &wave{s: s, host: host, real: isReal, number: s.waves, played: make(chan struct{})}
	w.ctx, w.stop = context.WithCancel(s.t.Context())
	w.all.Go(func() {
		defer close(w.played)
		s.a.play(w)
	})
	return w
}

func (w *wave) end() {
	w.stop()
	w.all.Wait()
}

// saw counts what an attacker has seen.
func (w *wave) saw(what string) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if !w.real || w.s.again {
		return
	}
	w.s.seen[what]++
}

// each lets n attackers do the same until the attack is over. Between two turns of one
// attacker is a pause.
func (w *wave) each(n int, pause time.Duration, do func(n int)) {
	for i := range n {
		w.all.Go(func() {
			for w.ctx.Err() == nil {
				do(i)
				w.wait(pause)
			}
		})
	}
}

// wait returns after d, or when the attack is over.
func (w *wave) wait(d time.Duration) {
	select {
	case <-w.ctx.Done():
	case <-time.After(d):
	}
}

// rate does a step so many times a second until the attack is over, and counts them. A
// step must not wait long.
func (w *wave) rate(perSecond int, step func(n int)) {
	const tick = 10 * time.Millisecond
	t := time.NewTicker(tick)
	defer t.Stop()
	begin, n := time.Now(), 0
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-t.C:
		}
		for due := int(time.Since(begin).Seconds() * float64(perSecond)); n < due && w.ctx.Err() == nil; n++ {
			step(n)
		}
	}
}
