package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// smallBuffers has an edge listen with small buffers, so that a client that reads nothing is noticed soon.
func smallBuffers(o edgetest.Options) edgetest.Options {
	o.Seams.Listen = func(string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		return narrowListener{l}, err
	}
	return o
}

type narrowListener struct{ net.Listener }

func (l narrowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(64 << 10)
	}
	return c, err
}

// dialSmallBuffers is dial for a client that takes little.
func dialSmallBuffers(t testing.TB, address string) *socket {
	t.Helper()
	s := dial(t, address)
	_ = s.Conn.(*net.TCPConn).SetReadBuffer(128 << 10)
	return s
}

// longTextOrigin is an origin with one long text. It sends the beginning, and the rest when the test lets it.
type longTextOrigin struct {
	text    string
	fields  string // the fields of the first answer, with its framing
	chunked bool
	unroll  chan struct{}
	rest    func(c *edgetest.Conn, first int) // answers a request for what comes behind
	other   func(c *edgetest.Conn)            // answers /other, for the last time on its connection
	first   func(e *edgetest.Edge)            // comes before the clients
	slow    *socket                           // the socket of the client that is left behind
	mu      sync.Mutex
	asked   []http.Header // the fields of each request
}

// longTextBytes is more than the buffers on the way and what is kept of it.
const longTextBytes = 3 << 20

var longText = sync.OnceValue(func() string { return testkit.Numbered(longTextBytes) })

func newLongTextOrigin(chunked bool, fields string) *longTextOrigin {
	return &longTextOrigin{text: longText(), chunked: chunked, fields: fields, unroll: make(chan struct{})}
}

func (s *longTextOrigin) play(c *edgetest.Conn) {
	for r := c.Next(); r != nil; r = c.Next() {
		if r.RequestURI == "/other" {
			s.other(c)
			return
		}
		first := 0
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first); n == 1 {
			s.mu.Lock()
			s.asked = append(s.asked, r.Header)
			s.mu.Unlock()
			s.rest(c, first)
			continue
		}
		if !s.whole(c) {
			return
		}
	}
}

func (s *longTextOrigin) whole(c *edgetest.Conn) bool {
	head, piece := "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n"+s.fields, func(p string) string { return p }
	if s.chunked {
		head += "Transfer-Encoding: chunked\r\n\r\n"
		piece = func(p string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(p), p) }
	} else {
		head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(s.text))
	}
	if !c.Say(head + piece(s.text[:1000])) {
		return false
	}
	<-s.unroll
	ok := c.Say(piece(s.text[1000:]))
	if s.chunked {
		ok = ok && c.Say("0\r\n\r\n")
	}
	return ok
}

// leaveBehind starts an edge before s, and a client that is left behind by another. What that has
// of the answer by then is in got.
func (s *longTextOrigin) leaveBehind(t *testing.T, yaml, version string) (e *edgetest.Edge, slow *http.Response, got []byte) {
	t.Helper()
	e = start(t, yaml, smallBuffers(edgetest.Options{Origin: edgetest.StartOrigin(t, nil, s.play).Address}))
	t.Cleanup(func() {
		select {
		case <-s.unroll:
		default:
			close(s.unroll)
		}
	})
	if s.first != nil {
		s.first(e)
	}
	s.slow = dialSmallBuffers(t, e.Address)
	slow, err := s.slow.head("GET /a HTTP/" + version + "\r\nHost: edge.test\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	got = make([]byte, 1000)
	if _, err := io.ReadFull(slow.Body, got); err != nil {
		t.Fatal(err)
	}
	fast, err := dial(t, e.Address).head(asGet("/a"))
	if err != nil {
		t.Fatal(err)
	}
	if status := fast.Header.Get("Cache-Status"); !strings.Contains(status, "; collapsed") {
		t.Fatalf("the other client got %q, want it to share the fetch", status)
	}
	close(s.unroll)
	if body, err := io.ReadAll(fast.Body); err != nil || string(body) != s.text {
		t.Fatalf("the other client got %d bytes, %v", len(body), err)
	}
	return e, slow, got
}

// unknownLength is of an edge that does not keep the text whole: its length is unknown, and it is longer than max_object_bytes.
const unknownLength = always + `
cache: {memory: {max_object_bytes: 1MiB}}
limits: {response_buffer: 64KiB}
`

// scarceMemory is of an edge without memory for the whole text.
const scarceMemory = `
admission: {policy: never}
limits: {response_buffer: 64KiB, inflight_bytes: 1MiB}
`

func (s *longTextOrigin) yaml() string {
	if s.chunked {
		return unknownLength
	}
	return scarceMemory
}

// part is the head of the right answer to a request for the bytes from first to last.
func (s *longTextOrigin) part(first, last, size int, tag string) string {
	return fmt.Sprintf("HTTP/1.1 206 Partial Content\r\n%sContent-Range: bytes %d-%d/%d\r\n", tag, first, last, size)
}

// TestAClientThatFellBehindGetsTheSameBytes: the rest is requested by Range and If-Range, and any other
// response ends in a broken transfer.
func TestAClientThatFellBehindGetsTheSameBytes(t *testing.T) {
	const size, strong = longTextBytes, "ETag: \"1\"\r\n"
	sized := func(head, body string) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	inChunks := func(head, body, end string) string {
		return fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", head, len(body), body, end)
	}
	cases := 0
	f := func(name, counted string, whole bool, answer func(s *longTextOrigin, first int) string) {
		cases++
		for _, chunked := range []bool{true, false} {
			if testing.Short() && chunked == (cases%2 == 0) { // the quick run has each of them in one of the two
				continue
			}
			t.Run(fmt.Sprintf("%s, chunked %v", name, chunked), func(t *testing.T) {
				t.Parallel()
				s := newLongTextOrigin(chunked, strong)
				asked := -1
				s.rest = func(c *edgetest.Conn, first int) {
					asked = first
					c.Say(answer(s, first))
					if !whole {
						_ = c.Close()
					}
				}
				e, slow, got := s.leaveBehind(t, s.yaml(), "1.1")
				rest, err := io.ReadAll(slow.Body)
				got = append(got, rest...)
				switch right := strings.HasPrefix(s.text, string(got)); {
				case !chunked && len(got) == size && right && err == nil && counted == "origin": // what its head has said
				case (err == nil) != whole, !right, whole && len(got) != size:
					t.Errorf("got %d bytes, right ones %v, and %v; want a whole body %v", len(got), right, err, whole)
				}
				if n := e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest="+counted); n != 1 {
					t.Errorf("%v readers went on by %s, want 1", n, counted)
				}
				eventually(t, "nothing is held", func() bool { return e.Metric(t, "edgeproxy_inflight_bytes") == 0 })
				s.mu.Lock()
				defer s.mu.Unlock()
				if len(s.asked) == 0 || s.asked[0].Get("Range") != fmt.Sprintf("bytes=%d-", asked) || s.asked[0].Get("If-Range") != `"1"` || s.asked[0].Get("If-None-Match") != "" {
					t.Errorf("the origin was asked with %q", s.asked)
				}
			})
		}
	}
	const origin, cut = "origin", "cut"
	part := (*longTextOrigin).part
	f("the rest", origin, true, func(s *longTextOrigin, at int) string { return sized(part(s, at, size-1, size, strong), s.text[at:]) })
	f("the rest in chunks", origin, true, func(s *longTextOrigin, at int) string {
		return inChunks(part(s, at, size-1, size, strong), s.text[at:], "0\r\n\r\n")
	})
	other := strings.Repeat("x", size)
	f("a new version", cut, false, func(*longTextOrigin, int) string { return sized("HTTP/1.1 200 OK\r\nETag: \"2\"\r\n", other) })
	f("the whole", cut, false, func(s *longTextOrigin, _ int) string { return sized("HTTP/1.1 200 OK\r\n"+strong, s.text) })
	f("another tag", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-1, size, "ETag: \"2\"\r\n"), other[at:])
	})
	f("a weak tag", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-1, size, "ETag: W/\"1\"\r\n"), other[at:])
	})
	f("no tag", cut, false, func(s *longTextOrigin, at int) string { return sized(part(s, at, size-1, size, ""), other[at:]) })
	f("two tags", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-1, size, "ETag: \"2\"\r\n"+strong), other[at:])
	})
	f("another place", cut, false, func(s *longTextOrigin, at int) string { return sized(part(s, at-1, size-2, size, strong), other[at:]) })
	f("from another place", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at-1, size-1, size, strong), other[at-1:])
	})
	f("not to the end", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-2, size, strong), s.text[at:size-1])
	})
	f("of no known size", cut, false, func(s *longTextOrigin, at int) string {
		return sized(fmt.Sprintf("HTTP/1.1 206 Partial Content\r\n%sContent-Range: bytes %d-%d/*\r\n", strong, at, size-1), s.text[at:])
	})
	f("without Content-Range", cut, false, func(_ *longTextOrigin, at int) string {
		return sized("HTTP/1.1 206 Partial Content\r\n"+strong, other[at:])
	})
	f("two Content-Ranges", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-1, size, strong+fmt.Sprintf("Content-Range: bytes 0-%d/%d\r\n", size-1-at, size)), other[at:])
	})
	f("another length", cut, false, func(s *longTextOrigin, at int) string {
		return sized(part(s, at, size-1, size, strong), s.text[at:size-10])
	})
	f("no framing", cut, false, func(s *longTextOrigin, at int) string {
		return part(s, at, size-1, size, strong) + "\r\n" + s.text[at:]
	})
	f("416", cut, false, func(*longTextOrigin, int) string {
		return "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */3\r\nContent-Length: 0\r\n\r\n"
	})
	f("304", cut, false, func(*longTextOrigin, int) string { return "HTTP/1.1 304 Not Modified\r\n" + strong + "\r\n" })
	f("nothing", cut, false, func(*longTextOrigin, int) string { return "" })
	f("breaks off", origin, false, func(s *longTextOrigin, at int) string {
		return strings.TrimSuffix(sized(part(s, at, size-1, size, strong), s.text[at:]), s.text[size-10:])
	})
	f("breaks off in chunks", origin, false, func(s *longTextOrigin, at int) string {
		return inChunks(part(s, at, size-1, size, strong), s.text[at:], "")
	})
	f("too few chunks", origin, false, func(s *longTextOrigin, at int) string {
		return inChunks(part(s, at, size-1, size, strong), s.text[at:size-10], "0\r\n\r\n")
	})
	f("too many chunks", origin, false, func(s *longTextOrigin, at int) string {
		return inChunks(part(s, at, size-1, size, strong), s.text[at:]+"x", "0\r\n\r\n")
	})
}

// TestARestOfAnotherLengthIsNotSent: the client has a Content-Length already.
func TestARestOfAnotherLengthIsNotSent(t *testing.T) {
	s := newLongTextOrigin(false, "ETag: \"1\"\r\n")
	s.rest = func(c *edgetest.Conn, at int) {
		c.Say(s.part(at, longTextBytes-2, longTextBytes-1, "ETag: \"1\"\r\n") + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", longTextBytes-1-at, s.text[at:longTextBytes-1]))
	}
	e, slow, _ := s.leaveBehind(t, s.yaml(), "1.1")
	if _, err := io.Copy(io.Discard, slow.Body); err == nil {
		t.Error("it was taken for the rest")
	}
	if n := e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=cut"); n != 1 {
		t.Errorf("%v readers were cut off, want 1", n)
	}
}

// TestAClientWithoutTheRestSeesABrokenTransfer: a client that cannot be given the rest sees a broken transfer, whatever frames
// its answer.
func TestAClientWithoutTheRestSeesABrokenTransfer(t *testing.T) {
	f := func(name, version string, chunked bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLongTextOrigin(chunked, "")
			e, slow, got := s.leaveBehind(t, s.yaml(), version)
			if (slow.ContentLength < 0) != chunked {
				t.Errorf("the answer has a length of %d", slow.ContentLength)
			}
			rest, err := io.ReadAll(slow.Body)
			if got = append(got, rest...); err == nil || !strings.HasPrefix(s.text, string(got)) {
				t.Errorf("got %d bytes and no error %v, want a broken transfer", len(got), err)
			}
			if n := e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=cut"); n != 1 {
				t.Errorf("%v readers were cut off, want 1", n)
			}
			eventually(t, "nothing is held", func() bool {
				return e.Metric(t, "edgeproxy_inflight_bytes") == 0 && e.Metric(t, "edgeproxy_requests_in_flight") == 0
			})
		})
	}
	f("a length", "1.1", false)
	f("chunks", "1.1", true)
	f("until the end of the connection", "1.0", true)
	f("a length in HTTP/1.0", "1.0", false)
}

// TestAClientThatFellBehindInHTTP10GetsTheRest: it is sent by another goroutine than the handler's, which
// still has to know what was asked for.
func TestAClientThatFellBehindInHTTP10GetsTheRest(t *testing.T) {
	s := newLongTextOrigin(true, "ETag: \"1\"\r\n")
	s.rest = func(c *edgetest.Conn, at int) {
		c.Say(s.part(at, longTextBytes-1, longTextBytes, "ETag: \"1\"\r\n") + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", longTextBytes-at, s.text[at:]))
	}
	_, slow, got := s.leaveBehind(t, s.yaml(), "1.0")
	rest, err := io.ReadAll(slow.Body)
	if got = append(got, rest...); err != nil || string(got) != s.text {
		t.Errorf("got %d bytes and %v", len(got), err)
	}
}

// TestTheStoredBodyOfAClientThatFellBehindIsPinned: the rest comes from what is stored by then, and that
// is counted when it leaves the cache.
func TestTheStoredBodyOfAClientThatFellBehindIsPinned(t *testing.T) {
	const held = 4 << 20
	s := newLongTextOrigin(true, "ETag: \"1\"\r\n")
	s.rest = func(c *edgetest.Conn, _ int) { c.Say("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") }
	let := make(chan struct{})
	free := sync.OnceFunc(func() { close(let) })
	defer free()
	s.other = func(c *edgetest.Conn) { // takes the memory that the first fetch lacks
		c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: %d\r\n\r\n", held))
		<-let
	}
	s.first = func(e *edgetest.Edge) {
		if _, err := dial(t, e.Address).head(asGet("/other")); err != nil {
			t.Fatal(err)
		}
	}
	e, slow, got := s.leaveBehind(t, fmt.Sprintf("%slimits: {response_buffer: 64KiB, inflight_bytes: %dB, inflight_share: 1}", always, held+longTextBytes/2), "1.1")
	free()
	eventually(t, "there is memory again", func() bool { return e.Metric(t, "edgeproxy_inflight_bytes") == 0 })
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", s.text)
	stored := func() bool { return e.Metric(t, "edgeproxy_readers_behind_total", "route=default", "rest=stored") == 1 }
	for piece := make([]byte, 16<<10); !stored() && len(got) < longTextBytes-1<<20; got = append(got, piece...) {
		if _, err := io.ReadFull(slow.Body, piece); err != nil {
			t.Fatal(err)
		}
	}
	if !stored() {
		t.Fatal("it did not go on from the store")
	}
	if n := e.Store.Stats().PinnedBytes; n != 0 {
		t.Errorf("in the cache: %d bytes pinned, want 0", n)
	}
	if _, _, err := e.Proxy.Purge("all", nil, false); err != nil {
		t.Fatal(err)
	}
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", s.text) // in its place
	eventually(t, "what has left the cache is counted", func() bool { return e.Store.Stats().PinnedBytes == longTextBytes })
	rest, err := io.ReadAll(slow.Body)
	if got = append(got, rest...); err != nil || string(got) != s.text {
		t.Errorf("got %d bytes, and %v", len(got), err)
	}
	eventually(t, "then nothing", func() bool {
		return e.Store.Stats().PinnedBytes == 0 && e.Metric(t, "edgeproxy_inflight_bytes") == 0
	})
	if len(s.asked) != 0 {
		t.Errorf("the origin was asked for the rest: %q", s.asked)
	}
}
