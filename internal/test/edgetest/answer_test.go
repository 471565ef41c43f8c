package edgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what the origin says to requests for one target:
//
//	Name: value   a field; without one called Date the origin adds it
//	no-date       but not then
//	body TEXT     {n} is the number of requests for the target so far, {Name} the request's field
//	size N        a body of N bytes
//	chunked       in chunks, one for each piece
//	until-close   with neither length nor chunks
//	delay D       before the head
//	pause D       between head and body
//	drip N D      the body in pieces of N bytes, D after each but the last
//	cut N         close after N bytes of the body
//	drop          close without an answer
//	hang          say nothing until the edge gives up
//	ranges        know Range: bytes=A-B, A- and -N, and If-Range
//	bytes TEXT    these bytes are the answer
//	where F N     the status is N for a request with the field F
//	exact         compare tags byte by byte
//
// An If-None-Match that equals the ETag, by weak comparison, is answered with 304, which has the fields of the answer.
type answer struct {
	status                  int
	fields                  []string // whole lines
	body                    string
	noDate, chunked         bool
	untilClose, drop, hang  bool
	ranges, exact           bool
	where                   []condition
	delay, pause, dripPause time.Duration
	drip, cut               int
	bytes                   string
	asked                   int
}

// condition is a status for requests with a field.
type condition struct {
	field  string
	status int
}

func parseAnswer(s *step) (target string, a *answer, err error) {
	w, err := s.words(1)
	if err != nil {
		return "", nil, err
	}
	a = &answer{status: http.StatusOK, cut: -1}
	if len(w) > 1 {
		if a.status, err = strconv.Atoi(w[1]); err != nil {
			return "", nil, err
		}
	}
	for _, line := range s.lines {
		if err := a.add(line); err != nil {
			return "", nil, fmt.Errorf("origin: %q: %w", line, err)
		}
	}
	return w[0], a, nil
}

func (a *answer) add(line string) (err error) {
	verb, rest, _ := strings.Cut(line, " ")
	if strings.HasSuffix(verb, ":") {
		a.fields = append(a.fields, line)
		return nil
	}
	flags := map[string]*bool{
		"no-date": &a.noDate, "chunked": &a.chunked, "until-close": &a.untilClose, "drop": &a.drop, "hang": &a.hang, "ranges": &a.ranges, "exact": &a.exact,
	}
	if f := flags[line]; f != nil {
		*f = true
		return nil
	}
	switch verb {
	case "body":
		a.body, err = unescape(rest)
	case "bytes":
		a.bytes, err = unescape(rest)
	case "size":
		var n int
		n, err = strconv.Atoi(rest)
		a.body = strings.Repeat("x", n)
	case "delay":
		a.delay, err = time.ParseDuration(rest)
	case "pause":
		a.pause, err = time.ParseDuration(rest)
	case "cut":
		a.cut, err = strconv.Atoi(rest)
	case "where":
		var c condition
		_, err = fmt.Sscan(rest, &c.field, &c.status)
		a.where = append(a.where, c)
	case "drip":
		n, d, _ := strings.Cut(rest, " ")
		if a.drip, err = strconv.Atoi(n); err == nil {
			a.dripPause, err = time.ParseDuration(d)
		}
	default:
		err = fmt.Errorf("unknown")
	}
	return err
}

// give answers r on c and reports whether c may serve another request. n is the
// number of the request for its target.
func (a *answer) give(c *Conn, r *Request, n int) bool {
	if a.hang {
		c.UntilClosed()
		return false
	}
	time.Sleep(a.delay)
	switch {
	case a.drop:
		return false
	case a.bytes != "":
		return c.Say(a.bytes)
	}
	status, body, extra := a.pick(r, a.content(r, n))
	if !c.Say(a.head(status, body, extra)) {
		return false
	}
	if r.Method == http.MethodHead || status == http.StatusNotModified || status == http.StatusNoContent {
		return true
	}
	time.Sleep(a.pause)
	return a.send(c, body) && !a.untilClose
}

func (a *answer) content(r *Request, n int) string {
	out := strings.ReplaceAll(a.body, "{n}", strconv.Itoa(n))
	for name := range r.Header {
		out = strings.ReplaceAll(out, "{"+name+"}", r.Header.Get(name))
	}
	return out
}

// pick applies what a request asks of an origin that has validators and
// ranges.
func (a *answer) pick(r *Request, body string) (status int, part, extra string) {
	for _, c := range a.where {
		if r.Header.Get(c.field) != "" {
			return c.status, body, ""
		}
	}
	same := r.Header.Get("If-Range") == ""
	for _, f := range a.fields {
		tag, ok := strings.CutPrefix(f, "ETag: ")
		asked := r.Header.Get("If-None-Match")
		if ok && (asked == tag || !a.exact && strings.TrimPrefix(asked, "W/") == strings.TrimPrefix(tag, "W/")) {
			return http.StatusNotModified, "", ""
		}
		same = same || ok && r.Header.Get("If-Range") == tag
	}
	spec, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes=")
	if !a.ranges || !ok || !same {
		return a.status, body, ""
	}
	first, last, ok := span(spec, len(body))
	if !ok {
		return http.StatusRequestedRangeNotSatisfiable, "", fmt.Sprintf("Content-Range: bytes */%d\r\n", len(body))
	}
	return http.StatusPartialContent, body[first : last+1], fmt.Sprintf("Content-Range: bytes %d-%d/%d\r\n", first, last, len(body))
}

// span reads one range, A-B, A- or -N, of so many bytes.
func span(spec string, size int) (first, last int, ok bool) {
	from, to, _ := strings.Cut(spec, "-")
	n, err := strconv.Atoi(to)
	switch last = size - 1; {
	case from == "" && err == nil:
		return max(size-n, 0), last, n > 0
	case err == nil:
		last = min(n, last)
	case to != "":
		return 0, 0, false
	}
	first, err = strconv.Atoi(from)
	return first, last, err == nil && first <= last
}

func (a *answer) head(status int, body, extra string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	dated := a.noDate
	for _, f := range a.fields {
		dated = dated || strings.HasPrefix(f, "Date:")
		line, err := expandDates(f)
		if err != nil {
			line = "Broken-Script: " + err.Error()
		}
		b.WriteString(line + "\r\n")
	}
	if !dated {
		b.WriteString("Date: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n")
	}
	b.WriteString(extra)
	switch {
	case status == http.StatusNotModified || status == http.StatusNoContent || a.untilClose:
	case a.chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n"
}

// send sends the body in its pieces and reports whether it was sent whole.
func (a *answer) send(c *Conn, body string) bool {
	whole := a.cut < 0
	if !whole {
		body = body[:a.cut]
	}
	for piece := ""; body != ""; {
		n := len(body)
		if a.drip > 0 {
			n = min(n, a.drip)
		}
		piece, body = body[:n], body[n:]
		if a.chunked {
			piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
		}
		if !c.Say(piece) {
			return false
		}
		if body != "" {
			time.Sleep(a.dripPause)
		}
	}
	if a.chunked && whole {
		return c.Say("0\r\n\r\n")
	}
	return whole
}
