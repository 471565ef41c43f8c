package edgetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/test/testkit"
)

// reply is what a client got.
type reply struct {
	*http.Response
	interim []*http.Response // what came before
	content string
	broken  error // the body ended before its framing said so
	took    time.Duration
	nothing error // there was no answer
}

// exchange is one request under way.
type exchange struct {
	conn net.Conn
	done chan reply // gets one value
}

// request returns the bytes of the request that a step describes, and the
// expectations under it.
func request(s *step, method, target string) (text string, expectations []string, err error) {
	fields, body, host := "", "", "Host: edge.test\r\n"
	for _, line := range s.lines {
		switch {
		case strings.HasPrefix(line, "->"):
			expectations = append(expectations, strings.TrimSpace(line[2:]))
			continue
		case strings.HasPrefix(line, "body "):
			if body, err = unescape(line[len("body "):]); err != nil {
				return "", nil, err
			}
			fields += fmt.Sprintf("Content-Length: %d\r\n", len(body))
			continue
		case strings.HasPrefix(line, "Host:"):
			host = ""
		case !strings.Contains(line, ":"):
			return "", nil, fmt.Errorf("%q: want Name: value, body TEXT or -> EXPECTATION", line)
		}
		if line, err = expandDates(line); err != nil {
			return "", nil, err
		}
		fields += line + "\r\n"
	}
	return method + " " + target + " HTTP/1.1\r\n" + host + fields + "\r\n" + body, expectations, nil
}

// begin sends text on a new connection. The answer arrives on done.
func begin(p *pipe, text string) (*exchange, error) {
	c, err := p.dial(context.Background(), "", "")
	if err != nil {
		return nil, err
	}
	x := &exchange{conn: c, done: make(chan reply, 1)}
	method, _, _ := strings.Cut(text, " ")
	begun := time.Now()
	go func() {
		// Beside the reading: the edge may answer, and close, before it has read all.
		_, _ = io.WriteString(c, text)
	}()
	go func() {
		r := read(c, method)
		_ = c.Close()
		r.took = time.Since(begun)
		x.done <- r
	}()
	return x, nil
}

// read reads one answer to its end, interim responses before it included.
func read(c net.Conn, method string) reply {
	r := bufio.NewReader(c)
	var interim []*http.Response
	for {
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return reply{nothing: err}
		}
		if res.StatusCode < 200 {
			interim = append(interim, res)
			continue
		}
		body, err := io.ReadAll(res.Body)
		return reply{Response: res, interim: interim, content: string(body), broken: err}
	}
}

// check holds a reply against one expectation.
func (r *reply) check(want string) error {
	verb, rest, _ := strings.Cut(want, " ")
	switch {
	case '1' <= verb[0] && verb[0] <= '5':
		if got := r.summary(); got != want {
			return fmt.Errorf("got %q, want %q", got, want)
		}
	case verb == "broken":
		if r.broken == nil {
			return errors.New("got a whole body, want a broken one")
		}
	case verb == "body":
		text, err := unescape(rest)
		if err != nil {
			return err
		}
		if r.content != text {
			return fmt.Errorf("got body %q, want %q", r.content, text)
		}
	case verb == "content":
		text, err := unescape(rest)
		if err != nil {
			return err
		}
		got, err := testkit.Decoded(r.Header.Get("Content-Encoding"), r.content)
		if err != nil {
			return fmt.Errorf("content %q: %w", got, err)
		}
		if got != text {
			return fmt.Errorf("got content %q, want %q", got, text)
		}
	case verb == "size":
		if got := fmt.Sprint(len(r.content)); got != rest {
			return fmt.Errorf("got a body of %s bytes, want %s", got, rest)
		}
	case verb == "after":
		if got := r.took.String(); got != rest {
			return fmt.Errorf("got the answer after %s, want %s", got, rest)
		}
	case verb == "interim":
		return r.checkInterim(rest)
	case verb == "trailer":
		return checkTrailer(r.Trailer, rest)
	default:
		return checkField(r.Header, want)
	}
	return nil
}

// checkInterim holds the interim responses against "none", or the last one of a
// status against "STATUS Name: value".
func (r *reply) checkInterim(want string) error {
	if want == "none" {
		if len(r.interim) > 0 {
			return fmt.Errorf("got %d interim responses, want none", len(r.interim))
		}
		return nil
	}
	status, field, _ := strings.Cut(want, " ")
	for _, res := range slices.Backward(r.interim) {
		if fmt.Sprint(res.StatusCode) == status {
			return checkField(res.Header, field)
		}
	}
	return fmt.Errorf("got no interim response %s", status)
}

// checkTrailer holds a trailer section against "none", or a field of it against
// "Name: value" or "no Name".
func checkTrailer(h http.Header, want string) error {
	if want == "none" {
		if len(h) > 0 {
			return fmt.Errorf("got the trailers %q, want none", h)
		}
		return nil
	}
	return checkField(h, want)
}

// checkField holds "Name: value" or "no Name" against fields.
func checkField(h http.Header, want string) error {
	if name, absent := strings.CutPrefix(want, "no "); absent {
		if got := h.Values(name); len(got) > 0 {
			return fmt.Errorf("got %s: %q, want none", name, got)
		}
		return nil
	}
	name, value, ok := strings.Cut(want, ": ")
	if !ok {
		return fmt.Errorf("%q: no expectation of this form", want)
	}
	value, err := expandDates(value)
	if err != nil {
		return err
	}
	if got := strings.Join(h.Values(name), ", "); got != value {
		return fmt.Errorf("got %s: %q, want %q", name, got, value)
	}
	return nil
}

// summary is status and Cache-Status, without the name of the edge.
func (r *reply) summary() string {
	out := fmt.Sprint(r.StatusCode)
	if s := strings.Join(r.Header.Values("Cache-Status"), ", "); s != "" {
		out += " " + strings.TrimPrefix(s, Node+"; ")
	}
	return out
}

// checkAll holds a reply against all expectations. A body that nobody expected to
// break must be whole.
func (r *reply) checkAll(wants []string) error {
	if r.nothing != nil {
		return fmt.Errorf("got no answer: %w", r.nothing)
	}
	var errs []error
	expectedBroken := false
	for _, want := range wants {
		expectedBroken = expectedBroken || want == "broken"
		if err := r.check(want); err != nil {
			errs = append(errs, err)
		}
	}
	if r.broken != nil && !expectedBroken {
		errs = append(errs, fmt.Errorf("the body broke after %d bytes: %w", len(r.content), r.broken))
	}
	return errors.Join(errs...)
}
