package http1

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// trailersOf follows a body in pieces of n bytes.
func trailersOf(wire string, n int) (field.List, error) {
	c := &chunks{most: 1 << 10}
	for len(wire) > 0 {
		n := min(n, len(wire))
		c.follow([]byte(wire[:n]))
		wire = wire[n:]
	}
	return c.trailers()
}

// fasthttp accepts a bare LF, a folded line and white space before the colon in a trailer section, and says nothing
// of a line that was cut off. Such a request was answered with 200, and its trailers were changed or dropped.
func TestTrailersOfARequestWereReadLeniently(t *testing.T) {
	f := func(section, want string, wantErr error) {
		t.Helper()
		for _, begin := range []string{"0\r\n", "3\r\nab0\r\n0\r\n", "0a;x=\"3\"\r\n0\r\n\r\n0\r\n\r\n\r\n00 ;y\r\n", "1F \r\n" + strings.Repeat("\n", 31) + "\r\n0\r\n"} {
			for n := 1; n < len(begin+section)+1; n++ {
				list, err := trailersOf(begin+section, n)
				got := ""
				for _, x := range list {
					got += x.Name + "=" + x.Value + ";"
				}
				if got != want || err != wantErr { //nolint:errorlint // these very ones
					t.Fatalf("%q in pieces of %d: got %q, %v; want %q, %v", begin+section, n, got, err, want, wantErr)
				}
			}
		}
	}
	f("\r\n", "", nil)
	f("\r\nGET / HTTP/1.1\nx", "", nil)
	f("x-sum: 1\r\nY:\r\nX-Sum:\t2 \r\n\r\n", "X-Sum=1;Y=;X-Sum=2;", nil)
	f("X Y: 1\r\n\r\n", "", errTrailer)
	f("X: 1\r\nX Y: 1\r\n\r\n", "", errTrailer)
	f(": 1\r\n\r\n", "", errTrailer)
	f("X: a\nb\r\n\r\n", "", errTrailer)
	f("X: a\x00\r\n\r\n", "", errTrailer)
	f("X: a\rb\r\n\r\n", "", errTrailer)
	f("X\r\n\r\n", "", errTrailer)

	f("\n", "", errTrailer)
	f("X: y\n\r\n", "", errTrailer)
	f("X: y\n\nrest\r\n\r\n", "", errTrailer)
	f("X: y\r\n\nrest\r\n\r\n", "", errTrailer)
	f("X: a\r\n b\r\n\r\n", "", errTrailer)
	f("X : y\r\n\r\n", "", errTrailer)
	f(" X: y\r\n\r\n", "", errTrailer)

	f("", "", io.ErrUnexpectedEOF)
	f("\r", "", io.ErrUnexpectedEOF)
	f("X: y", "", io.ErrUnexpectedEOF)
	f("X: y\r\n", "", io.ErrUnexpectedEOF)
	f("X: y\r\n\r", "", io.ErrUnexpectedEOF)
}

func TestABodyWithoutItsLastChunkHasNoTrailers(t *testing.T) {
	const whole = "3\r\nabc\r\n0\r\n\r\n"
	for n := range whole {
		if list, err := trailersOf(whole[:n], 4); list != nil || err != io.ErrUnexpectedEOF { //nolint:errorlint // this very one
			t.Errorf("%q: got %v, %v", whole[:n], list, err)
		}
	}
}

// FuzzTrailersOfARequest: what is read can be sent as it is, nothing is left out, and the end is where fasthttp ends the
// section, however the bytes come.
func FuzzTrailersOfARequest(f *testing.F) {
	f.Add("X-Sum: 1\r\ny:\r\n\r\n", 1)
	f.Add("X: 1\nY: 2\r\n\r\nGET / HTTP/1.1\r\n", 3)
	f.Fuzz(func(t *testing.T, section string, n int) {
		list, err := trailersOf("1\r\nx\r\n0\r\n"+section, max(n, 1))
		if err != nil {
			if list != nil {
				t.Errorf("got %q together with %v", list, err)
			}
			return
		}
		lines := strings.Split(section, "\r\n")
		if lines[len(list)] != "" {
			t.Errorf("got %q of %q", list, section)
		}
		for i, x := range list {
			if !field.ValidName(x.Name) || x.Name != field.Canonical(x.Name) || !field.ValidValue(x.Value) || strings.Trim(x.Value, " \t") != x.Value {
				t.Errorf("got %q", x)
			}
			name, value, _ := strings.Cut(lines[i], ":")
			if !strings.EqualFold(name, x.Name) || strings.Trim(value, " \t") != x.Value {
				t.Errorf("got %q of the line %q", x, lines[i])
			}
		}
		r := bufio.NewReader(strings.NewReader(section))
		if h := new(fasthttp.RequestHeader); h.ReadTrailer(r) == nil {
			if rest, _ := io.ReadAll(r); string(rest) != strings.Join(lines[len(list)+1:], "\r\n") {
				t.Errorf("%q: fasthttp leaves %q", section, rest)
			}
		}
	})
}

// FuzzTrailersAreTaken: fasthttp takes what goes on in trailers, announced in a head that
// has a field of the same name or not, and writes it as it is.
func FuzzTrailersAreTaken(f *testing.F) {
	f.Add("X-Sum", "1", true)
	f.Add("x-SUM_a", "\"a, b\"", false)
	f.Add("!~a-b", "\xff", true)
	f.Fuzz(func(t *testing.T, name, value string, announced bool) {
		value = strings.Trim(value, " \t")
		list := field.List{{Name: field.Canonical(name), Value: value}}
		if !field.ValidName(name) || !field.ValidValue(value) || len(rfc9111.Trailers(nil, list)) == 0 {
			return
		}
		block := "HTTP/1.1 200 OK\r\n" + name + ": of the head\r\n"
		if announced {
			block += "Trailer: " + rfc9111.Announced(field.List{{Name: "Trailer", Value: name}}) + "\r\n"
		}
		var resp fasthttp.Response
		if err := resp.Header.Read(bufio.NewReaderSize(strings.NewReader(block+"\r\n"), len(block)+2)); err != nil {
			t.Fatalf("%q: %v", block, err)
		}
		resp.SetBodyStream(&closing{list: list, h: &resp.Header}, -1)
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		if err := resp.Write(w); err != nil {
			t.Fatal(err)
		}
		_ = w.Flush()
		head, body, _ := strings.Cut(out.String(), "\r\n\r\n")
		if want := "4\r\nbody\r\n0\r\n" + list[0].Name + ": " + value + "\r\n\r\n"; body != want {
			t.Errorf("got %q, want %q", body, want)
		}
		if has := strings.Contains(head, "\r\nTrailer: "+list[0].Name); has != announced || !strings.Contains(head, ": of the head") {
			t.Errorf("announced %v: got the head %q", announced, head)
		}
	})
}

// closing is a body that ends with trailers, as chunkedBody does.
type closing struct {
	list field.List
	h    *fasthttp.ResponseHeader
}

func (c *closing) Read([]byte) (int, error) { panic("read, not written") }

func (c *closing) SupportsBodyWriteTo() bool { return true }

func (c *closing) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "body")
	addTrailers(c.h, c.list)
	return int64(n), err
}
