package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// play is one case on one rig.
type play struct {
	c      *hostileCase
	r      *rig
	inLine bool // it stands behind a request and before another
	handed bool // the request before has handed it to the library that reads what is not plain
	number int64
	conn   net.Conn
	got    *stream       // what the client got
	over   chan struct{} // closed at the end
}

// plays numbers them, so that no two have a target in common before and after.
var plays atomic.Int64

// way is how a case is played.
type way uint8

// The ways. The front reads plain requests by itself, and hands a connection to its library when
// another one comes: what is not plain is the library's in each of them, and what is plain too
// where the connection was handed over before.
const (
	alone way = iota
	inLine
	handed // and in line
)

// run plays the case and returns all that was not as expected.
func (r *rig) run(c *hostileCase, w way) error {
	p := &play{c: c, r: r, inLine: w != alone, handed: w == handed, number: plays.Add(1), got: newStream(), over: make(chan struct{})}
	if _, err := r.rest(); err != nil {
		return err
	}
	if err := r.purge(); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	r.origin.begin(nil)
	if err := r.dropIdle(); err != nil {
		return fmt.Errorf("connections of the case before: %w", err)
	}
	r.origin.begin(p)
	before, err := r.rest()
	if err != nil {
		return err
	}
	err = p.client()
	after, restErr := r.rest()
	seen, problems := r.origin.requests()
	err = errors.Join(err, restErr, p.checkClient(), p.checkOrigin(seen, problems))
	slices.Sort(seen) // what is sent twice is one request to the gate
	if got := int64(len(slices.Compact(seen))); got > after.requests-before.requests {
		err = errors.Join(err, fmt.Errorf("the origin got %d requests, but the gate saw %d", got, after.requests-before.requests))
	}
	if got, want := after.writes-before.writes, int64(len(c.stored)+c.stale); got != want {
		err = errors.Join(err, fmt.Errorf("stored %d responses, want %d", got, want))
	}
	if after.panics > 0 {
		err = errors.Join(err, errors.New("the edge panicked"))
	}
	close(p.over)
	return errors.Join(err, p.checkStored(), p.checkAlive())
}

// end is how the connection ends. Behind chunks the front keeps a connection that it reads by itself, and its library does not.
func (p *play) end() string {
	switch {
	case p.c.end == "kept" && p.handed:
		return "closed"
	case p.c.end == "kept":
		return "open"
	}
	return p.c.end
}

// marked is a request whose answer cannot be taken for any other.
func (p *play) marked(name string) (text, target string) {
	target = fmt.Sprintf("/%s?n=%d", name, p.number)
	return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n", target
}

// client is what the client does. What it got is for others to judge.
func (p *play) client() error {
	var err error
	if p.conn, err = net.Dial("tcp", p.r.address); err != nil {
		return err
	}
	defer p.conn.Close()
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		if !p.stalls() {
			p.got.follow(p.conn)
		}
	}()
	err = p.talk()
	if p.end() != "left" && !p.stalls() {
		err = errors.Join(err, p.awaitEnd())
	}
	_ = p.conn.Close()
	<-reading
	return err
}

func (p *play) stalls() bool {
	return slices.ContainsFunc(p.c.client, func(s step) bool { return s.verb == "stall" })
}

// talk writes what there is to write.
func (p *play) talk() error {
	if p.inLine {
		text, _ := p.marked("before")
		if p.handed {
			text = strings.TrimSuffix(text, "\r\n") + "Connection: keep-alive, x\r\n\r\n"
		}
		if _, err := io.WriteString(p.conn, text); err != nil {
			return err
		}
		if err := p.awaitAnswers(1); err != nil {
			return fmt.Errorf("the request before: %w", err)
		}
	}
	behind := ""
	if p.inLine {
		behind, _ = p.marked("next")
	}
	for i, s := range p.c.client {
		if i == len(p.c.client)-1 && s.verb == "send" { // in one write, so that the edge has both
			s.text += behind
			behind = ""
		}
		if err := p.do(s); err != nil {
			return fmt.Errorf("%s %.40q: %w", s.verb, s.text, err)
		}
	}
	if behind != "" { // to write nothing is to ask whether there was a reset, which only reading may
		_, _ = io.WriteString(p.conn, behind)
	}
	return nil
}

// do is one step of the client. What it writes may well find the connection closed.
func (p *play) do(s step) error {
	switch s.verb {
	case "send":
		_, _ = io.WriteString(p.conn, s.text)
	case "send-drip":
		period, err := time.ParseDuration(s.period)
		if err != nil {
			return err
		}
		_ = drip(p.conn, s.text, s.number, period, p.over)
	case "send-end":
		_ = p.conn.(*net.TCPConn).CloseWrite()
	case "leave":
		return p.conn.Close()
	case "stall":
		return p.r.origin.wait(func() bool { return p.r.origin.played > 0 })
	case "await":
		return p.got.wait(p.over, func(text string, _ bool) bool { return strings.Contains(text, s.text) })
	case "await-origin":
		return p.r.origin.wait(func() bool { return p.r.origin.arrived() >= s.number })
	case "await-played":
		return p.r.origin.wait(func() bool { return p.r.origin.played >= s.number })
	}
	return nil
}

// awaitEnd waits for what ends the reading. Where the connection stays open, that is
// the last answer, and then the client that ends its side.
func (p *play) awaitEnd() error {
	if p.end() == "open" {
		n := len(p.c.answers)
		if p.inLine {
			n += 2
		}
		if err := p.awaitAnswers(n); err != nil {
			return fmt.Errorf("answer %d: %w", n, err)
		}
		_ = p.conn.(*net.TCPConn).CloseWrite()
	}
	if err := p.got.wait(nil, func(_ string, ended bool) bool { return ended }); err != nil {
		return fmt.Errorf("the end of the connection: %w", err)
	}
	return nil
}

// awaitAnswers waits for so many whole answers.
func (p *play) awaitAnswers(n int) error {
	return p.got.wait(nil, func(text string, ended bool) bool {
		return p.whole(text, ended) >= n
	})
}

// wants returns what the client must get, with what is around the case in line.
func (p *play) wants() []wantAnswer {
	if !p.inLine {
		return p.c.answers
	}
	_, before := p.marked("before")
	wants := append([]wantAnswer{{status: "200", body: &before}}, p.c.answers...)
	if p.end() == "open" {
		_, after := p.marked("next")
		wants = append(wants, wantAnswer{status: "200", body: &after})
	}
	return wants
}

// answers cuts what the client got into answers. The last one may be broken.
func (p *play) answers(text string, ended bool) ([]message, error) {
	var out []message
	wants := p.wants()
	ended = ended && !p.got.wasReset() // a reset ends no body that has no length
	for text != "" {
		head := len(out) < len(wants) && wants[len(out)].head
		m, rest, err := cutMessage(text, head, ended)
		if m.start != "" && (!p.c.flood || m.status()[0] != '1') {
			out = append(out, m)
		}
		if err != nil {
			return out, err
		}
		text = rest
	}
	return out, nil
}

func (p *play) whole(text string, ended bool) (n int) {
	answers, _ := p.answers(text, ended)
	for _, a := range answers {
		if a.whole {
			n++
		}
	}
	return n
}
