package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// checkClient holds what the client got against what the case expects.
func (p *play) checkClient() error {
	if p.end() == "left" || p.stalls() {
		return nil
	}
	text, ended, _ := p.got.get()
	answers, err := p.answers(text, ended)
	var errs []error
	if err != nil && !errors.Is(err, errMore) {
		errs = append(errs, fmt.Errorf("the client got what is no response: %w", err))
	}
	var got, want []string
	wants := p.wants()
	for i, a := range answers {
		got = append(got, a.status())
		if i < len(wants) {
			errs = append(errs, wants[i].check(&a))
		}
	}
	for _, w := range wants {
		want = append(want, w.status)
	}
	if !slices.Equal(got, want) {
		errs = append(errs, fmt.Errorf("the client got %q, want %q; all of it: %.300q", got, want, text))
	}
	if n := len(answers); p.end() == "closed" && n > 0 && answers[n-1].whole && !slices.Contains(answers[n-1].values("Connection"), "close") {
		errs = append(errs, errors.New("the connection was closed, but the last answer does not say so"))
	}
	for _, s := range p.c.has {
		if !strings.Contains(text, s) {
			errs = append(errs, fmt.Errorf("the client did not get %q: %.300q", s, text))
		}
	}
	for _, s := range p.c.lacks {
		if strings.Contains(text, s) {
			errs = append(errs, fmt.Errorf("the client got %q: %.300q", s, text))
		}
	}
	return errors.Join(errs...)
}

// status returns the status of a response.
func (m *message) status() string {
	_, rest, _ := strings.Cut(m.start, " ")
	status, _, _ := strings.Cut(rest, " ")
	return status
}

func (w *wantAnswer) check(m *message) error {
	switch {
	case w.broken && m.whole:
		return fmt.Errorf("got a whole %s with the body %.80q, want a broken one", m.status(), m.body)
	case !w.broken && !m.whole:
		return fmt.Errorf("a %s broke after %d bytes of the body", m.status(), len(m.body))
	case w.broken && !strings.HasPrefix(*w.body, m.body):
		return fmt.Errorf("got body %.80q, want the beginning of %.80q", m.body, *w.body)
	case !w.broken && w.body != nil && m.body != *w.body:
		return fmt.Errorf("got a %s with %d bytes of body %.80q, want %d: %.80q", m.status(), len(m.body), m.body, len(*w.body), *w.body)
	}
	return nil
}

// checkOrigin holds what reached the origin against what the case expects.
func (p *play) checkOrigin(got, problems []string) error {
	var errs []error
	for _, problem := range problems {
		errs = append(errs, fmt.Errorf("the origin got %s", problem))
	}
	want := p.c.seen
	if p.inLine {
		_, before := p.marked("before")
		want = append([]string{"GET " + before + " | Host: h"}, want...)
		if p.end() == "open" {
			_, after := p.marked("next")
			want = append(want, "GET "+after+" | Host: h")
		}
	}
	if !slices.EqualFunc(got, want, matches) {
		errs = append(errs, fmt.Errorf("the origin got %d requests %.600q, want %d: %.600q", len(got), got, len(want), want))
	}
	return errors.Join(errs...)
}

// matches compares a request; one that must end in … may have a longer body.
func matches(got, want string) bool {
	begin, open := strings.CutSuffix(want, "…")
	return got == want || open && strings.HasPrefix(got, begin)
}

// checkStored asks for what the case expects in the cache, and for what every case is
// about, without letting the edge ask the origin (RFC 9111 section 5.2.1.7).
func (p *play) checkStored() error {
	var errs []error
	for _, s := range p.c.stored {
		errs = append(errs, p.look(s.target, "200", &s.body))
	}
	if len(p.c.stored) == 0 {
		errs = append(errs, p.look("/a", "504", nil))
	}
	return errors.Join(errs...)
}

// look looks for target in the cache.
func (p *play) look(target, status string, body *string) error {
	text := "GET " + target + " HTTP/1.1\r\nHost: h\r\nCache-Control: only-if-cached\r\nConnection: close\r\n\r\n"
	if err := p.r.ask(text, wantAnswer{status: status, body: body}); err != nil {
		return fmt.Errorf("%.80q from the cache: %w", target, err)
	}
	return nil
}

// checkAlive asks for something of the edge's own after the case, on a connection of
// its own: whatever lies on a connection to the origin must not be the answer.
func (p *play) checkAlive() error {
	text, target := p.marked("last")
	text = strings.Replace(text, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
	if err := p.r.ask(text, wantAnswer{status: "200", body: &target}); err != nil {
		return fmt.Errorf("the next request: %w", err)
	}
	return nil
}

// ask sends a request that closes its connection, and holds the answer against want.
func (r *rig) ask(request string, want wantAnswer) error {
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	in := newStream()
	go in.follow(c)
	var m message
	var rest string
	var malformed error
	err = in.wait(nil, func(text string, ended bool) bool {
		m, rest, malformed = cutMessage(text, false, ended)
		return !errors.Is(malformed, errMore)
	})
	switch {
	case err != nil || malformed != nil:
		return errors.Join(err, malformed)
	case m.status() != want.status:
		return fmt.Errorf("got %s %.80q, want %s", m.status(), m.body, want.status)
	case rest != "":
		return fmt.Errorf("behind the answer: %.80q", rest)
	}
	return want.check(&m)
}
