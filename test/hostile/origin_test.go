package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// origin plays the part of the origin in one case after another, and reads what
// reaches it as strictly as can be.
type origin struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	play     *play
	seen     []*arrival
	begun    int // answers to requests of the case
	played   int // and those it is through with
	problems []string
	changed  chan struct{}
}

// arrival is a request that reached the origin, at least its head.
type arrival struct{ message }

// String returns the request as cases write it, without the edge's own fields.
func (a *arrival) String() string {
	var b strings.Builder
	if !a.whole {
		b.WriteString("part ")
	}
	b.WriteString(strings.TrimSuffix(a.start, " HTTP/1.1"))
	for _, f := range a.fields {
		if !own(f) {
			b.WriteString(" | " + f)
		}
	}
	if a.body != "" {
		b.WriteString(" | body " + a.body)
	}
	for _, f := range a.behind {
		b.WriteString(" | trailer " + f)
	}
	return b.String()
}

// own tells the fields that the edge writes into every request.
func own(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return name == "Via" || strings.EqualFold(name, "CDN-Loop") || strings.HasPrefix(name, "X-Forwarded-")
}

func startOrigin(tb testing.TB) *origin {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	o := &origin{listener: l, conns: map[net.Conn]struct{}{}, changed: make(chan struct{})}
	o.serving.Go(o.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		o.begin(nil)
		o.serving.Wait()
	})
	return o
}

func (o *origin) accept() {
	for {
		c, err := o.listener.Accept()
		if err != nil {
			return
		}
		o.note(func() { o.conns[c] = struct{}{} })
		o.serving.Go(func() {
			o.serve(c)
			_ = c.Close()
			o.note(func() { delete(o.conns, c) })
		})
	}
}

// begin ends every connection, and then makes p the one that is played.
func (o *origin) begin(p *play) {
	o.mu.Lock()
	for c := range o.conns {
		_ = c.Close()
	}
	o.mu.Unlock()
	testkit.ComesTrue(func() bool { return o.connections() == 0 })
	o.note(func() { o.play, o.seen, o.begun, o.played, o.problems = p, nil, 0, 0, nil })
}

// connections returns how many are open, or not read to their end.
func (o *origin) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.conns)
}

// settle waits until every connection that was made before has been accepted: they
// are accepted in turn, and the last one is made here.
func (o *origin) settle() error {
	c, err := net.Dial("tcp", o.listener.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	return o.wait(func() bool {
		for accepted := range o.conns {
			if accepted.RemoteAddr().String() == c.LocalAddr().String() {
				return true
			}
		}
		return false
	})
}

// note changes what others wait for.
func (o *origin) note(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	close(o.changed)
	o.changed = make(chan struct{})
}

// wait waits until done says so.
func (o *origin) wait(done func() bool) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		o.mu.Lock()
		is, changed := done(), o.changed
		o.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-changed:
		case <-limit.C:
			return errPatience
		}
	}
}

// requests returns what has come, and what was no request.
func (o *origin) requests() (seen, problems []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.seen {
		seen = append(seen, a.String())
	}
	return seen, o.problems
}

// serve reads requests and answers them until the connection ends.
func (o *origin) serve(c net.Conn) {
	in := newStream()
	o.serving.Go(func() { in.follow(c) })
	for from := 0; ; {
		a, early, used := o.receive(c, in, from)
		if a == nil || !early && !o.answer(c, in, a) {
			return
		}
		from += used
	}
}

// receive reads the request that begins so many bytes into the stream, and returns how
// many it took. A request that is answered early is answered here.
func (o *origin) receive(c net.Conn, in *stream, from int) (a *arrival, answered bool, used int) {
	for {
		text, ended, changed := in.get()
		m, rest, err := cutMessage(text[from:], false, ended)
		if m.start != "" && a == nil {
			a = &arrival{m}
			o.note(func() { o.seen = append(o.seen, a) })
		}
		if a != nil {
			o.note(func() { a.message = m })
		}
		if m.start != "" && !answered && o.early(a) {
			answered = true
			if !o.answer(c, in, a) {
				return nil, true, 0
			}
		}
		switch {
		case err == nil:
			return a, answered, len(text) - from - len(rest)
		case !errors.Is(err, errMore):
			o.note(func() { o.problems = append(o.problems, err.Error()) })
			return nil, answered, 0
		case ended:
			if a == nil && len(text) > from {
				o.note(func() { o.problems = append(o.problems, fmt.Sprintf("no request: %.80q", text[from:])) })
			}
			return nil, answered, 0
		}
		<-changed
	}
}

func (o *origin) early(a *arrival) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.play != nil && o.play.c.early && a.scripted()
}

func (a *arrival) target() string { return strings.Split(a.start, " ")[1] }

// scripted tells the requests that the case says the answer to.
func (a *arrival) scripted() bool { return strings.HasPrefix(a.target(), "/a") }

// arrived counts the requests of the case, at least whose heads have come. The caller
// holds the lock.
func (o *origin) arrived() (n int) {
	for _, a := range o.seen {
		if a.scripted() {
			n++
		}
	}
	return n
}

// answer answers a request and reports whether the connection goes on.
func (o *origin) answer(c net.Conn, in *stream, a *arrival) bool {
	o.mu.Lock()
	p, n := o.play, o.begun
	o.mu.Unlock()
	if p == nil || !a.scripted() {
		return echo(c, a)
	}
	o.note(func() { o.begun++ })
	defer o.note(func() { o.played++ })
	if len(p.c.origin) == 0 {
		return echo(c, a)
	}
	for _, s := range p.c.origin[min(n, len(p.c.origin)-1)] {
		if !p.say(c, in, s) {
			return false
		}
	}
	return true
}

// echo answers with the target. Only what belongs to the case may be stored, and what
// drops connections leaves none.
func echo(c net.Conn, a *arrival) bool {
	keep := "max-age=600"
	switch path, _, _ := strings.Cut(a.target(), "?"); path {
	case "/before", "/next":
		keep = "no-store"
	case "/drop":
		keep = "no-store\r\nConnection: close"
	}
	text := fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: %s\r\nX-Target: %s\r\nContent-Length: %d\r\n\r\n", keep, a.target(), len(a.target()))
	if !strings.HasPrefix(a.start, "HEAD ") {
		text += a.target()
	}
	_, err := io.WriteString(c, text)
	return err == nil
}

// say is one step of the origin.
func (p *play) say(c net.Conn, in *stream, s step) bool {
	switch s.verb {
	case "say":
		_, err := io.WriteString(c, s.text)
		return err == nil
	case "say-drip":
		period, err := time.ParseDuration(s.period)
		return err == nil && drip(c, s.text, s.number, period, p.over) == nil
	case "await-client":
		return p.got.wait(p.over, func(text string, _ bool) bool { return strings.Contains(text, s.text) }) == nil
	case "say-nothing":
		_ = in.wait(p.over, func(_ string, ended bool) bool { return ended })
	case "say-end":
		sendOff(c.(*net.TCPConn))
		_ = c.Close()
	case "say-reset":
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	return false
}
