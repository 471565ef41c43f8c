package origin

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
)

func TestStatusLine(t *testing.T) {
	ok := func(line string, minor, status int, reason string) {
		t.Helper()
		h, err := parseHead(line+"\r\n", nil)
		if err != nil || h.minor != minor || h.status != status || h.reason != reason {
			t.Errorf("%q: got %+v and error %v, want %d %d %q", line, h, err, minor, status, reason)
		}
	}
	ok("HTTP/1.1 200 OK", 1, 200, "OK")
	ok("HTTP/1.0 404 Not Found", 0, 404, "Not Found")
	ok("HTTP/1.1 204 ", 1, 204, "")
	ok("HTTP/1.1 204", 1, 204, "")
	ok("HTTP/1.2 200 OK", 2, 200, "OK")
	ok("HTTP/1.1 999 x\x80", 1, 999, "x\x80")

	for _, line := range []string{
		"", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099 x", "HTTP/1.1 2x0 OK", "HTTP/1.1  200 OK",
		"HTTP/1.1\t200 OK", "HTTP/2.0 200 OK", "HTTP/1.10 200 OK", "HTTP/1. 200 OK", "http/1.1 200 OK", "ICY 200 OK", " HTTP/1.1 200 OK",
		"HTTP/1.1 -20 OK", "HTTP/1.1 200-OK", "HTTP/1.1 200 O\x00K", "HTTP/1.1 200 O\rK", "<html>",
	} {
		if h, err := parseHead(line+"\r\n", nil); kindOf2(err) != Malformed {
			t.Errorf("%q: got %+v and error %v, want malformed", line, h, err)
		}
	}
}

// kindOf2 is kindOf, and 0 for no error.
func kindOf2(err error) Kind {
	if err == nil {
		return 0
	}
	return kindOf(err)
}

func TestHeaderFields(t *testing.T) {
	ok := func(lines string, want field.List) {
		t.Helper()
		h, err := parseHead("HTTP/1.1 200 OK\r\n"+lines, nil)
		if err != nil || !cmp.Equal(h.fields, want) {
			t.Errorf("%q: got %q and error %v, want %q", lines, h.fields, err, want)
		}
	}
	ok("", field.List{})
	ok("x-a: 1\r\nX-A:2\r\nETAG:\t\"x\" \t\r\n", field.List{{Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}, {Name: "Etag", Value: `"x"`}})
	ok("X-Empty:\r\nX-Colon: a:b\r\n", field.List{{Name: "X-Empty", Value: ""}, {Name: "X-Colon", Value: "a:b"}})
	ok("X-Utf8: \xc3\xa9 a\tb\r\n", field.List{{Name: "X-Utf8", Value: "\xc3\xa9 a\tb"}})
	// RFC 9112 section 5.1: a proxy removes white space before the colon.
	ok("Set-Cookie : a=b\r\nAge \t:7\r\n", field.List{{Name: "Set-Cookie", Value: "a=b"}, {Name: "Age", Value: "7"}})

	for _, lines := range []string{
		"no colon\r\n", ": v\r\n", " : v\r\n", "X Y: v\r\n", "X\x00: v\r\n", "X\x80: v\r\n", "X(: v\r\n", "X: a\x00b\r\n", "X: a\rb\r\n",
		"X: a\x7f\r\n", "X: a\x1bb\r\n", "X: a\r\n folded\r\n", "X: a\r\n\tfolded\r\n", " X: first line folded\r\n", "\r\nX: y\r\n",
		strings.Repeat("X: y\r\n", maxFields+1),
	} {
		if h, err := parseHead("HTTP/1.1 200 OK\r\n"+lines, nil); kindOf2(err) != Malformed {
			t.Errorf("%.60q: got %q and error %v, want malformed", lines, h.fields, err)
		}
	}
	if _, err := parseHead("HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", maxFields), nil); err != nil {
		t.Errorf("%d fields: got error %v, want none", maxFields, err)
	}
}

func readHeadOf(wire string, limit int) (text, rest string, err error) {
	c := &conn{br: bufio.NewReaderSize(strings.NewReader(wire), 16)}
	text, err = c.readHead(limit)
	left, _ := io.ReadAll(c.br)
	return text, string(left), err
}

func TestReadHeadEndsAtTheEmptyLine(t *testing.T) {
	long := "HTTP/1.1 200 OK\r\nX: longer than the buffer of the reader\r\n"
	text, rest, err := readHeadOf(long+"\r\n\r\nbody", 100)
	if text != long || rest != "\r\nbody" || err != nil {
		t.Errorf("got %q, rest %q, error %v", text, rest, err)
	}
	if _, _, err := readHeadOf(long+"\r\n", len(long)+2); err != nil {
		t.Errorf("head of exactly the limit: got error %v, want none", err)
	}
	if _, _, err := readHeadOf(long+"\r\n", len(long)+1); kindOf2(err) != Malformed {
		t.Errorf("head one byte above the limit: got error %v, want malformed", err)
	}
	if _, _, err := readHeadOf(strings.Repeat("x", 200), 100); kindOf2(err) != Malformed {
		t.Errorf("endless line: got error %v, want malformed", err)
	}
}

// A bare LF that ends a line would let a value with a client's LF in it become
// a field of its own.
func TestReadHeadRefusesBareLF(t *testing.T) {
	for _, wire := range []string{
		"HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\nX: y\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: b\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n\n", "\n",
	} {
		if text, _, err := readHeadOf(wire, 100); kindOf2(err) != Malformed {
			t.Errorf("%q: got %q and error %v, want malformed", wire, text, err)
		}
	}
}

func TestReadHeadCutAtEveryByte(t *testing.T) {
	const wire = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
	for cut := range len(wire) {
		if _, _, err := readHeadOf(wire[:cut], 100); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: got error %v, want %v", cut, err, io.ErrUnexpectedEOF)
		}
	}
}

// FuzzHead checks that what is accepted is safe to send on: canonical names that
// are tokens, values without control bytes, one framing.
func FuzzHead(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n")
	f.Add("HTTP/1.0 304\r\nTransfer-Encoding: chunked\r\n")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding : Chunked\r\nkeep-alive: timeout=5, max=1\r\n")
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		text, _, err := readHeadOf(text+"\r\n\r\n", 1<<16)
		if err != nil {
			return
		}
		h, err := parseHead(text, nil)
		if err != nil {
			return
		}
		for _, x := range h.fields {
			if !field.ValidName(x.Name) || field.Canonical(x.Name) != x.Name || !field.ValidValue(x.Value) || strings.Trim(x.Value, " \t") != x.Value {
				t.Fatalf("field %q accepted", x)
			}
		}
		fr, err := frame("GET", &h)
		if err != nil {
			return
		}
		if h.fields.Has("Transfer-Encoding") || len(h.fields.Values("Content-Length")) > 1 {
			t.Fatalf("ambiguous framing is left in %q", h.fields)
		}
		if fr.end == byLength && fr.length <= 0 || fr.end == byChunks && fr.length != -1 || fr.end == byClose && fr.keep {
			t.Fatalf("inconsistent framing %+v", fr)
		}
	})
}
