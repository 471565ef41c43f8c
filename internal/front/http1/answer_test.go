package http1

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// piecewise is content that comes in pieces, or breaks off with an error.
type piecewise struct {
	pieces   []string
	trailers field.List
	failed   error
	buf      []byte
}

func (c *piecewise) Bytes() net.Buffers { return nil }

func (c *piecewise) Next() ([]byte, error) {
	if len(c.pieces) == 0 {
		return nil, c.end()
	}
	c.buf = append(c.buf[:0], c.pieces[0]...)
	c.pieces = c.pieces[1:]
	return c.buf, nil
}

func (c *piecewise) end() error {
	if c.failed != nil {
		return c.failed
	}
	return io.EOF
}

func (c *piecewise) Trailers() field.List { return c.trailers }
func (c *piecewise) Close() error         { return nil }

// readable is piecewise that is read.
type readable struct{ piecewise }

func (c *readable) Read(p []byte) (int, error) {
	if len(c.pieces) == 0 {
		return 0, c.end()
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; c.pieces[0] == "" {
		c.pieces = c.pieces[1:]
	}
	return n, nil
}

// TestContentThatComesInPiecesIsSentAlike by the loop here and by fasthttp: what its client gets, up
// to the end of the connection where it breaks off.
func TestContentThatComesInPiecesIsSentAlike(t *testing.T) {
	f := func(name string, length int64, pieces []string, trailers field.List, failed error, want string, wantErr error) {
		t.Helper()
		for kind, content := range map[string]func() message.Content{
			"read":      func() message.Content { return &readable{piecewise{pieces: slices.Clone(pieces), failed: failed}} },
			"in pieces": func() message.Content { return &piecewise{pieces: pieces, trailers: trailers, failed: failed} },
		} {
			if kind == "read" && trailers != nil {
				continue // fasthttp has no body that is read and ends in trailers
			}
			bothWays(t, func(t *testing.T, w way) {
				served(t, func(_ *message.Request, a *message.Answer) {
					a.Status, a.Length, a.Content = http.StatusOK, length, content()
				}, func(t *testing.T, c net.Conn, r *bufio.Reader) {
					go func() { _, _ = io.WriteString(c, w.get("/a")) }()
					res, err := http.ReadResponse(r, nil)
					if err != nil {
						t.Fatal(err)
					}
					got, err := io.ReadAll(res.Body)
					want := want
					if wantErr != nil && w == byFasthttp && strings.HasPrefix(want, string(got)) {
						want = string(got) // it keeps what it has collected
					}
					if string(got) != want || !errors.Is(err, wantErr) || res.ContentLength != length {
						t.Errorf("%s, %s: got %d bytes of %d and error %v, want %d and %v",
							name, kind, len(got), res.ContentLength, err, len(want), wantErr)
					}
					for _, x := range trailers {
						if res.Trailer.Get(x.Name) != x.Value {
							t.Errorf("%s: got trailers %v", name, res.Trailer)
						}
					}
					if failed == nil && wantErr == nil && int64(len(got)) == length {
						w.stays(t, c, r)
					}
				})
			})
		}
	}
	large := strings.Repeat("x", 3*writeBuffer)
	gone := errors.New("gone")
	f("one", 3, []string{"abc"}, nil, nil, "abc", nil)
	f("several", 6, []string{"a", "bc", "def"}, nil, nil, "abcdef", nil)
	f("none", 0, nil, nil, nil, "", nil)
	f("large", int64(len(large)+1), []string{large, "y"}, nil, nil, large+"y", nil)
	f("too short", 4, []string{"abc"}, nil, nil, "abc", io.ErrUnexpectedEOF)
	f("broken", 4, []string{"abc"}, nil, gone, "abc", io.ErrUnexpectedEOF)
	f("chunks", -1, []string{"abc", large, "d"}, nil, nil, "abc"+large+"d", nil)
	f("no chunk", -1, nil, nil, nil, "", nil)
	f("chunks and trailers", -1, []string{"abc"}, field.List{{Name: "X-Sum", Value: "1"}, {Name: "Y", Value: ""}}, nil, "abc", nil)
	f("broken chunks", -1, []string{"abc"}, nil, gone, "abc", io.ErrUnexpectedEOF)
}

// stays asks once more on the connection.
func (w way) stays(t *testing.T, c net.Conn, r *bufio.Reader) {
	t.Helper()
	go func() { _, _ = io.WriteString(c, w.get("/b")) }()
	if res, err := http.ReadResponse(r, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("then got %v and error %v, want another answer", res, err)
	}
}

// TestContentThatIsTooLongEndsTheConnection: and its client gets no byte that it would take for
// the next answer.
func TestContentThatIsTooLongEndsTheConnection(t *testing.T) {
	for kind, content := range map[string]message.Content{
		"read": &readable{piecewise{pieces: []string{"abc", "d"}}}, "in pieces": &piecewise{pieces: []string{"abc", "d"}},
	} {
		served(t, func(_ *message.Request, a *message.Answer) {
			a.Status, a.Length, a.Content = http.StatusOK, 3, content
		}, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() { _, _ = io.WriteString(c, byLoop.get("/a")) }()
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(res.Body); string(got) != "abc" || err != nil {
				t.Errorf("%s: got %q and error %v", kind, got, err)
			}
			if b, err := r.ReadByte(); err != io.EOF {
				t.Errorf("%s: then got %q and error %v, want the end", kind, b, err)
			}
		})
	}
}

// TestAHeadInPiecesIsReadWhereItWasBegun: cut at any byte, and byte by byte, also behind another request.
func TestAHeadInPiecesIsReadWhereItWasBegun(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		request := w.get("/a")
		write := func(c net.Conn, pieces ...string) {
			for _, piece := range pieces {
				if _, err := io.WriteString(c, piece); err != nil {
					return
				}
			}
		}
		served(t, plain, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			both := w.get("/b") + request
			for i := 1; i < len(both); i++ {
				go write(c, both[:i], both[i:])
				for _, target := range []string{"/b", "/a"} {
					if got, err := heard(r); got != "200 "+target || err != nil {
						t.Fatalf("cut at %d: got %q and error %v, want %s", i, got, err, target)
					}
				}
			}
			go write(c, strings.Split(both, "")...)
			for _, target := range []string{"/b", "/a"} {
				if got, err := heard(r); got != "200 "+target || err != nil {
					t.Fatalf("byte by byte: got %q and error %v, want %s", got, err, target)
				}
			}
		})
	})
}
