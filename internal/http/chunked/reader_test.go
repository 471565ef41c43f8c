package chunked

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"edgeproxy/internal/http/field"
)

// bufferBytes is the size of the buffers here.
const bufferBytes = 4 << 10

// section takes lines as they are.
var section = &Section{Bytes: 16 << 10, Fields: 256, Parse: func(line string) (name, value string, err error) {
	name, value, ok := strings.Cut(line, ":")
	if value = strings.Trim(value, " \t"); !ok || !field.ValidName(name) || !field.ValidValue(value) {
		return "", "", malformed("invalid field line %.40q", line)
	}
	return field.Canonical(name), value, nil
}}

// isMalformed reports whether err says that a body is not understood.
func isMalformed(err error) bool {
	_, ok := errors.AsType[MalformedError](err)
	return ok
}

// decode reads a chunked body and returns what it holds and what follows it.
func decode(wire string) (body, rest string, err error) {
	br := bufio.NewReaderSize(strings.NewReader(wire), bufferBytes)
	b, err := io.ReadAll(NewReader(br, section))
	left, _ := io.ReadAll(br)
	return string(b), string(left), err
}

func TestChunkedBodyWhole(t *testing.T) {
	f := func(wire, want string) {
		t.Helper()
		body, rest, err := decode(wire + "NEXT")
		if body != want || rest != "NEXT" || err != nil {
			t.Errorf("%.60q: got %q, rest %q, error %v, want %q", wire, body, rest, err, want)
		}
	}
	f("0\r\n\r\n", "")
	f("5\r\nhello\r\n0\r\n\r\n", "hello")
	f("5\r\nhello\r\n6;a=b;c\r\n world\r\n000\r\n\r\n", "hello world")
	f("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", "01234567890123456789")
	f("0000000000000005\r\nhello\r\n0;last\r\n\r\n", "hello")
	f("2\r\n\r\n\r\n0\r\n\r\n", "\r\n")
	big := strings.Repeat("x", 3*bufferBytes)
	f(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(big), big), big)
	// One byte per chunk is a way to stream, not an attack.
	f(strings.Repeat("1\r\nx\r\n", 20000)+"0\r\n\r\n", strings.Repeat("x", 20000))
}

func TestChunkedBodyMalformed(t *testing.T) {
	for _, wire := range []string{
		"\r\n", "5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\n\n", "0x5\r\nhello\r\n0\r\n\r\n",
		"+5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "5 ;x\r\nhello\r\n0\r\n\r\n", "g\r\n",
		";x\r\n", "00000000000000005\r\nhello\r\n0\r\n\r\n", "8000000000000000\r\n", "ffffffffffffffff\r\n", "5;a\rb\r\nhello\r\n0\r\n\r\n",
		"5;a\x00\r\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhello\rX0\r\n\r\n", "5\r\nhello0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n",
		"0\r\nbad trailer\r\n\r\n", "0\r\nA: b\r\n fold\r\n\r\n", "0\r\nA: b\x00\r\n\r\n", "5;" + strings.Repeat("x", maxLineBytes) + "\r\nhello\r\n0\r\n\r\n",
		"5;" + strings.Repeat("x", bufferBytes), "0\r\n" + strings.Repeat("A: "+strings.Repeat("b", 500)+"\r\n", 40) + "\r\n",
		"0\r\n" + strings.Repeat("A: b\r\n", section.Fields+1) + "\r\n",
		strings.Repeat("1;"+strings.Repeat("x", 100)+"\r\nx\r\n", 100) + "0\r\n\r\n",
	} {
		if body, _, err := decode(wire); !isMalformed(err) {
			t.Errorf("%.60q: got %q and error %v, want malformed", wire, body, err)
		}
	}
}

func TestChunkedBodyCutAtEveryByte(t *testing.T) {
	const wire = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"
	for cut := range len(wire) {
		body, _, err := decode(wire[:cut])
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix("hello world", body) {
			t.Errorf("cut at %d: got %q and error %v, want a start of the body and %v", cut, body, err, io.ErrUnexpectedEOF)
		}
	}
}

func TestChunkedBodyDoesNotWaitForMoreThanItHas(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = io.WriteString(w, "2\r\nab\r\n3\r\nc") }()
	c := NewReader(bufio.NewReader(r), section)
	b := make([]byte, 100)
	n, err := c.Read(b) // the rest of the second chunk never comes
	if string(b[:n]) != "abc" || err != nil {
		t.Errorf("got %q and error %v, want what has arrived, of both chunks", b[:n], err)
	}
}

// FuzzChunks compares with the standard library: what we take for a whole body
// it must take too, with the same bytes, however the input is split. What we make of the
// trailers is safe to send on: written as lines, they are read as the same again.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nA: b\r\n\r\n"))
	f.Add([]byte("0\r\n\r\n"))
	f.Add([]byte("1\r\nx\r\n1\r\ny\r\n00\r\n\r\nHTTP/1.1 200 OK\r\n"))
	f.Add([]byte("a;\"\r\n0123456789\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		br := bufio.NewReader(bytes.NewReader(wire))
		chunks, slowly := NewReader(br, section), NewReader(bufio.NewReader(iotest.OneByteReader(bytes.NewReader(wire))), section)
		ours, err := io.ReadAll(chunks)
		slow, slowErr := io.ReadAll(slowly)
		if !bytes.Equal(ours, slow) || (err == nil) != (slowErr == nil) || err == nil && !slices.Equal(chunks.trailers, slowly.trailers) {
			t.Fatalf("at once: %q, %v; byte by byte: %q, %v", ours, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		theirs, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(wire)))
		if err != nil || !bytes.Equal(ours, theirs) {
			t.Fatalf("got %q, the standard library %q and error %v", ours, theirs, err)
		}
		rest, _ := io.ReadAll(br)
		if used := wire[:len(wire)-len(rest)]; !bytes.HasSuffix(used, []byte("\r\n\r\n")) {
			t.Fatalf("the body ended inside %q", used)
		}
		again := []byte("0\r\n")
		for _, x := range chunks.trailers {
			again = append(again, x.Name+": "+x.Value+"\r\n"...)
		}
		c := NewReader(bufio.NewReader(bytes.NewReader(append(again, "\r\n"...))), section)
		if _, err := io.ReadAll(c); err != nil || !slices.Equal(c.trailers, chunks.trailers) {
			t.Fatalf("got %q from %q, %v; want %q", c.trailers, again, err, chunks.trailers)
		}
	})
}
