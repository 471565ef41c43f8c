package edgetest

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/edge"
)

// world is origin, edge and clients in one bubble.
type world struct {
	tb       testing.TB
	disk     bool   // both edges have one
	dir      string // the {dir} of both
	yaml     string
	small    []string // sizes, as KEY SIZE
	edge     *Edge    // nil until the first step that says nothing of it
	shielded *string  // the YAML of a second edge, between the first one and the origin; nil is none
	shield   *Edge
	filed    bool // a file was written since the last reload
	middle   *pipe
	clients  *pipe
	origin   *Origin
	down     *pipe
	waiting  map[string]*exchange
	mu       sync.Mutex // guards what the origin's scripts use
	answers  map[string]*answer
	last     *Request
	parallel int // requests the origin is working on
	most     int // and the most of them so far
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{tb: tb, dir: tb.TempDir(), clients: newPipe(1), middle: newPipe(3), down: newPipe(2), waiting: map[string]*exchange{}, answers: map[string]*answer{}}
	return w
}

// open starts origin and edge.
func (w *world) open() {
	// fasthttp's workers end within some seconds of the server.
	w.tb.Cleanup(func() { time.Sleep(time.Minute) })
	w.origin = StartOrigin(w.tb, w.down, w.play)
	to := w.down
	if w.shielded != nil {
		w.shield = Start(w.tb, "node: {name: shield}\n"+*w.shielded, w.optionsOf(w.middle, to))
		to = w.middle
	}
	w.edge = StartIn(w.tb, w.dir, w.yaml, w.optionsOf(w.clients, to))
}

// optionsOf are those of an edge that serves clients of the one pipe, and asks at the other.
func (w *world) optionsOf(clients, origin *pipe) Options {
	return Options{Origin: origin.Addr().String(), Seams: edge.Seams{
		Listen: func(address string) (net.Listener, error) {
			if address == adminAddress {
				return newPipe(9), nil
			}
			return clients, nil
		},
		Connect: origin.dial,
	}, Disk: w.disk, Adjust: w.adjust}
}

// play is the origin's script.
func (w *world) play(c *Conn) {
	for {
		r := c.Next()
		if r == nil {
			return
		}
		w.mu.Lock()
		w.last = r
		a := w.answers[r.RequestURI]
		if a == nil {
			a = &answer{status: 404, cut: -1}
		}
		a.asked++
		n := a.asked
		w.parallel++
		w.most = max(w.most, w.parallel)
		w.mu.Unlock()
		again := a.give(c, r, n)
		w.mu.Lock()
		w.parallel--
		w.mu.Unlock()
		if !again {
			return
		}
	}
}

// run takes the steps in turn; the error names the line.
func (w *world) run(steps []step) error {
	var errs []error
	for i := range steps {
		s := &steps[i]
		if err := w.take(s); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %s %s: %w", s.line, s.verb, s.rest, err))
		}
	}
	for name := range w.waiting {
		errs = append(errs, fmt.Errorf("%s was started and neither finished nor left", name))
	}
	return errors.Join(append(errs, w.books())...)
}

// books checks the identities that hold at the end of every scenario, once all
// fetches are over: what is judged storable when its header comes is stored,
// held back or refused when its body ends; a stored fill or a promotion is one
// write; and what was written is held or has left for a known reason.
func (w *world) books() error {
	var errs []error
	for _, e := range []*Edge{w.edge, w.shield} {
		if e != nil {
			errs = append(errs, e.books())
		}
	}
	return errors.Join(errs...)
}

// books checks those of one edge.
func (e *Edge) books() error {
	for range 60 { // what is left of timeouts and fetches without a client
		if s := e.Proxy.Status(); s.Flights == 0 && s.RequestsInFlight == 0 {
			break
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	}
	s, c := e.Proxy.Status(), e.Store.Stats()
	f := s.Totals.Fills
	var errs []error
	check := func(what string, got, want int64) {
		if got != want {
			errs = append(errs, fmt.Errorf("books: %s: got %d, want %d\nfills %+v\ncache %+v", what, got, want, f, c))
		}
	}
	check("storable fills", f.Storable, f.Stored+f.HeldBack+f.Refused)
	check("writes of the memory tier and the disk", c.Writes-c.Copies+c.Disk.Writes, f.Stored+c.Stage.Promoted)
	for _, t := range []cache.TierStats{c.TierStats, c.Stage} {
		check("writes of a tier", t.Writes, t.Objects+t.Capacity+t.Rejected+t.Variants+t.Replaced+t.Purged+t.Promoted)
	}
	return errors.Join(errs...)
}

func (w *world) take(s *step) error {
	switch s.verb {
	case "config", "small", "shield":
		if w.edge != nil {
			return errors.New("the edge runs already")
		}
		return w.configure(s)
	case "file":
		return w.file(s)
	}
	if w.edge == nil {
		w.open()
	}
	verbs := map[string]func(*step) error{
		"origin": w.answer, "client": w.client, "together": w.together, "start": w.start, "finish": w.finish,
		"leave": w.leave, "raw": w.raw, "advance": w.advance, "expect": w.expect, "reload": w.reload,
		"purge":        func(s *step) error { return w.edge.purge(s) },
		"purge-shield": func(s *step) error { return w.shield.purge(s) },
		"origin-down":  func(*step) error { return w.down.Close() },
		"shield-down":  func(*step) error { return w.middle.Close() },
	}
	do := verbs[s.verb]
	if do == nil {
		return errors.New("unknown verb")
	}
	w.fillIn(s)
	err := do(s)
	synctest.Wait() // whatever the step set going has come to rest
	return err
}

func (w *world) answer(s *step) error {
	target, a, err := parseAnswer(s)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.answers[target]; old != nil {
		a.asked = old.asked
	}
	w.answers[target] = a
	return nil
}

// send begins the request of a step whose method and target are the words given.
func (w *world) send(s *step, words []string) (*exchange, []string, error) {
	if len(words) != 2 {
		return nil, nil, fmt.Errorf("want method and target, got %q", words)
	}
	text, wants, err := request(s, words[0], words[1])
	if err != nil {
		return nil, nil, err
	}
	x, err := begin(w.clients, text)
	return x, wants, err
}

func (w *world) client(s *step) error {
	x, wants, err := w.send(s, strings.Fields(s.rest))
	if err != nil {
		return err
	}
	r := <-x.done
	return r.checkAll(wants)
}

func (w *world) raw(s *step) error {
	text, err := unescape(s.rest)
	if err != nil {
		return err
	}
	x, err := begin(w.clients, text)
	if err != nil {
		return err
	}
	r := <-x.done
	return r.checkAll(expectations(s))
}

func (w *world) together(s *step) error {
	words, err := s.words(3)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	var all []*exchange
	var wants []string
	for range n {
		x, e, err := w.send(s, words[1:])
		if err != nil {
			return err
		}
		all, wants = append(all, x), e
	}
	return gather(all, wants)
}

// gather holds the replies of all exchanges against the expectations: each on
// its own, those with "N times" in sum.
func gather(all []*exchange, wants []string) error {
	var each []string
	counts, spoken := map[string]int{}, 0
	for _, want := range wants {
		n, summary, times := strings.Cut(want, " times ")
		count, err := strconv.Atoi(n)
		if !times || err != nil {
			each = append(each, want)
			continue
		}
		counts[summary] += count
		spoken += count
	}
	var errs []error
	for _, x := range all {
		r := <-x.done
		errs = append(errs, r.checkAll(each))
		if spoken > 0 && r.nothing == nil {
			counts[r.summary()]--
		}
	}
	if spoken > 0 {
		for summary, left := range counts {
			if left != 0 {
				errs = append(errs, fmt.Errorf("%q: %+d more wanted than got", summary, left))
			}
		}
	}
	return errors.Join(errs...)
}

func (w *world) start(s *step) error {
	words, err := s.words(3)
	if err != nil {
		return err
	}
	x, wants, err := w.send(s, words[1:])
	if err != nil {
		return err
	}
	if len(wants) > 0 {
		return errors.New("expectations belong under finish")
	}
	if w.waiting[words[0]] != nil {
		return errors.New("there is one of this name")
	}
	w.waiting[words[0]] = x
	return nil
}

func (w *world) finish(s *step) error {
	x := w.waiting[s.rest]
	if x == nil {
		return errors.New("was not started")
	}
	delete(w.waiting, s.rest)
	r := <-x.done
	return r.checkAll(expectations(s))
}

func (w *world) leave(s *step) error {
	x := w.waiting[s.rest]
	if x == nil {
		return errors.New("was not started")
	}
	delete(w.waiting, s.rest)
	_ = x.conn.Close()
	<-x.done
	return nil
}

func (w *world) advance(s *step) error {
	d, err := time.ParseDuration(s.rest)
	if err != nil {
		return err
	}
	time.Sleep(d)
	return nil
}

func (e *Edge) purge(s *step) error {
	if e == nil {
		return errors.New("there is no shield")
	}
	words, err := s.words(1)
	if err != nil {
		return err
	}
	by, soft := "url", words[0] == "soft"
	if soft {
		words = words[1:]
	}
	if len(words) > 1 || len(words) == 1 && words[0] == "all" {
		by, words = words[0], words[1:]
	}
	n, counted, err := e.Proxy.Purge(by, numbered(words), soft)
	if err != nil {
		return err
	}
	got := "uncounted"
	if counted {
		got = strconv.Itoa(n)
	}
	for _, want := range expectations(s) {
		if got != want && (e.Disk() == nil || !counted || n == 0) { // the disk counts all variants as one
			return fmt.Errorf("got %s objects, want %s", got, want)
		}
	}
	return nil
}

// expectations returns the lines of a step that are expectations.
func expectations(s *step) []string {
	var out []string
	for _, line := range s.lines {
		if e, ok := strings.CutPrefix(line, "->"); ok {
			out = append(out, strings.TrimSpace(e))
		}
	}
	return out
}
