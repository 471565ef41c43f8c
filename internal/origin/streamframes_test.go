package origin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

// says plays a server that answers every request on every connection by say.
func says(say func(f *framer, stream uint32)) func(int, *framer) {
	return func(_ int, f *framer) {
		for id := f.request(); id != 0; id = f.request() {
			say(f, id)
		}
	}
}

// ok answers a request.
func (f *framer) ok(stream uint32) {
	f.head(stream, false, ":status", "200", "content-length", "2")
	_ = f.WriteData(stream, true, []byte("ok"))
}

// What is wrong with a head is refused, and the connection goes on.
func TestAMalformedHeadByHTTP2IsRefused(t *testing.T) {
	f := func(name string, fields ...string) {
		t.Helper()
		var bad atomic.Bool
		o := byFrames(t, Options{MaxHeaderBytes: 4 << 10}, says(func(f *framer, id uint32) {
			if !bad.Swap(true) {
				f.head(id, false, fields...)
				_ = f.WriteData(id, true, []byte("ok"))
				return
			}
			f.ok(id)
		}))
		_, body, err := fetch(o, get("/"))
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Malformed {
			t.Errorf("%s: got %q, %v; want it refused as malformed", name, body, err)
		}
		wantBody(t, o, get("/"), "ok")
		if n := openCount(o); n != 0 {
			t.Errorf("%s: got %d slots in use, want 0", name, n)
		}
	}
	f("no status", "content-type", "text/plain")
	f("a status of words", ":status", "okay")
	f("a status with a sign", ":status", "+200")
	f("a status of two digits", ":status", "99")
	f("a status of four digits", ":status", "0200")
	f("a switch of protocols", ":status", "101")
	f("two statuses", ":status", "200", ":status", "200")
	f("another pseudo-field", ":status", "200", ":path", "/")
	f("a pseudo-field behind another", "a", "b", ":status", "200")
	f("capitals in a name", ":status", "200", "X-A", "b")
	f("a space in a name", ":status", "200", "x a", "b")
	f("an empty name", ":status", "200", "", "b")
	f("a line end in a value", ":status", "200", "x-a", "b\r\nset-cookie: c=d")
	f("a zero byte in a value", ":status", "200", "x-a", "b\x00")
	f("a space before a value", ":status", "200", "x-a", " b")
	f("a tab behind a value", ":status", "200", "x-a", "b\t")
	f("Connection", ":status", "200", "connection", "close")
	f("Keep-Alive", ":status", "200", "keep-alive", "timeout=5")
	f("Proxy-Connection", ":status", "200", "proxy-connection", "close")
	f("Transfer-Encoding", ":status", "200", "transfer-encoding", "chunked")
	f("Upgrade", ":status", "200", "upgrade", "websocket")
	f("two lengths", ":status", "200", "content-length", "2", "content-length", "3")
	f("a list of lengths", ":status", "200", "content-length", "2, 3")
	f("a length with a sign", ":status", "200", "content-length", "+2")
	f("a length below 0", ":status", "200", "content-length", "-2")
	f("an empty length", ":status", "200", "content-length", "")
	f("a length of letters", ":status", "200", "content-length", "0x2")
	f("a length with a fraction", ":status", "200", "content-length", "2.0")
	f("a length above all", ":status", "200", "content-length", "99999999999999999999")
	f("a length of a 304 with a sign", ":status", "304", "content-length", "+2")
	f("a length of an interim response with a sign", ":status", "103", "content-length", "+2")
	f("too many bytes", ":status", "200", "x-a", strings.Repeat("x", 4<<10))
	many := []string{":status", "200"}
	for i := range maxFields + 1 {
		many = append(many, "x"+strconv.Itoa(i), "")
	}
	f("too many fields", many...)
}

// Lengths that say the same are one, as by HTTP/1.1.
func TestEqualLengthsByHTTP2AreOne(t *testing.T) {
	f := func(name string, length int64, fields ...string) {
		t.Helper()
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			f.head(id, false, append([]string{":status", "200", "x-a", "b"}, fields...)...)
			_ = f.WriteData(id, true, []byte("ok"))
		}))
		for range 2 {
			res, body, err := fetch(o, get("/"))
			if err != nil || body != "ok" || res.ContentLength != length {
				t.Errorf("%s: got %+v, %q and %v; want length %d, and ok", name, res, body, err, length)
			}
		}
	}
	f("one", 2, "content-length", "2")
	f("two lines", 2, "content-length", "2", "content-length", "2")
	f("a list, which the library leaves out", -1, "content-length", "2, 2")
}

// Every response on a connection is looked at, also where its fields come by their place in the table, in several frames, or
// beside padding.
func TestEachHeadByHTTP2IsLookedAt(t *testing.T) {
	bad := []string{":status", "200", "x-a", "b", "content-length", "+2"}
	good := []string{":status", "200", "x-a", "b", "content-length", "2"}
	ways := map[string]func(f *framer, id uint32, fields []string){
		"one frame": func(f *framer, id uint32, fields []string) { f.head(id, false, fields...) },
		"several frames": func(f *framer, id uint32, fields []string) {
			block := f.block(fields...)
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:1]})
			for i := range block[1:] {
				_ = f.WriteContinuation(id, i == len(block)-2, block[i+1:i+2])
			}
		},
		"padding and priority": func(f *framer, id uint32, fields []string) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{
				StreamID: id, BlockFragment: f.block(fields...), EndHeaders: true, PadLength: 7, Priority: http2.PriorityParam{Weight: 3},
			})
		},
	}
	for name, head := range ways {
		var n atomic.Int32
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			fields := good
			if n.Add(1)%2 == 0 {
				fields = bad
			}
			head(f, id, fields)
			_ = f.WriteData(id, true, []byte("ok"))
		}))
		for range 3 {
			wantBody(t, o, get("/"), "ok")
			_, _, err := fetch(o, get("/"))
			wantKind(t, err, Malformed)
			if err != nil && !strings.Contains(err.Error(), "Content-Length") {
				t.Errorf("%s: got %v, want it to name the field", name, err)
			}
		}
		if c := h2Count(o); c != 1 {
			t.Errorf("%s: got %d connections, want the only one", name, c)
		}
	}
}

func TestAResponseByHTTP2IsAsLongAsItSays(t *testing.T) {
	f := func(name string, want Kind, say func(f *framer, id uint32)) {
		t.Helper()
		o := byFrames(t, Options{Settings: Settings{IdleTimeout: testkit.Patience}}, says(say))
		res, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(res.Body)
		if want == 0 {
			if err != nil || string(body) != "12345" {
				t.Errorf("%s: got %q, %v", name, body, err)
			}
			return
		}
		wantKind(t, err, want)
		if len(body) > 5 || want == Cut && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %q, %v", name, body, err)
		}
		if len(res.Body.Trailers()) > 0 {
			t.Errorf("%s: got trailers", name)
		}
	}
	of := func(length string, pieces ...string) func(f *framer, id uint32) {
		return func(f *framer, id uint32) {
			f.head(id, false, ":status", "200", "content-length", length)
			for i, p := range pieces {
				_ = f.WriteData(id, i == len(pieces)-1, []byte(p))
			}
		}
	}
	f("exactly", 0, of("5", "123", "45"))
	f("with an empty frame at the end", 0, of("5", "12345", ""))
	f("with an end that comes later", 0, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200", "content-length", "5")
		_ = f.WriteData(id, false, []byte("12345"))
		f.untilHeard()
		_ = f.WriteData(id, true, nil)
	})
	f("short", Cut, of("5", "123", "4"))
	f("nothing", Cut, of("5", ""))
	f("long", Malformed, of("5", "12345", "6"))
	f("long at once", Malformed, of("5", "123456"))
	f("nothing with the head", Cut, func(f *framer, id uint32) { f.head(id, true, ":status", "200", "content-length", "5") })
	f("reset", Cut, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200")
		_ = f.WriteRSTStream(id, http2.ErrCodeInternal)
	})
	f("reset behind all of it", Cut, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200", "content-length", "5")
		_ = f.WriteData(id, false, []byte("12345"))
		_ = f.WriteRSTStream(id, http2.ErrCodeNo)
	})
	f("cut with the connection", Cut, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200")
		_ = f.WriteData(id, false, []byte("123"))
		_ = f.conn.Close()
	})
	f("cut behind a goodbye", Cut, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200")
		_ = f.WriteData(id, false, []byte("123"))
		_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
		_ = f.conn.Close()
	})
	f("finished behind a goodbye", 0, func(f *framer, id uint32) {
		f.head(id, false, ":status", "200")
		_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
		_ = f.WriteData(id, true, []byte("12345"))
	})
}

func TestResponsesByHTTP2WithoutABody(t *testing.T) {
	f := func(method, status, length string, end bool) {
		t.Helper()
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			fields := []string{":status", status}
			if length != "" {
				fields = append(fields, "content-length", length)
			}
			f.head(id, end, fields...)
			if !end {
				_ = f.WriteData(id, true, nil)
			}
		}))
		for range 3 {
			res, body, err := fetch(o, &Request{Method: method, Target: "/", Host: "h"})
			if err != nil || body != "" || res.ContentLength != 0 {
				t.Errorf("%s %s %s: got %q, %v", method, status, length, body, err)
			}
			if got, _ := res.Header.Get("Content-Length"); err == nil && got != length {
				t.Errorf("%s %s: got length %q, want %q", method, status, got, length)
			}
		}
		if n, c := openCount(o), h2Count(o); n != 0 || c != 1 {
			t.Errorf("%s %s: got %d slots in use and %d connections", method, status, n, c)
		}
	}
	for _, end := range []bool{true, false} {
		f("HEAD", "200", "5", end)
		f("HEAD", "200", "", end)
		f("GET", "304", "5", end)
		f("GET", "204", "", end)
		f("GET", "200", "0", end)
	}
}

// What the server says that it has not begun with is sent again, whatever it is; anything else as by HTTP/1.1.
func TestRepeatsByHTTP2(t *testing.T) {
	refuse := func(f *framer, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }
	goodbye := func(f *framer, id uint32) { _ = f.WriteGoAway(id-2, http2.ErrCodeNo, nil) }
	hangUp := func(f *framer, _ uint32) { _ = f.conn.Close() }
	f := func(name string, bad func(f *framer, id uint32), r func() *Request, want bool) {
		t.Helper()
		var n atomic.Int32
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			if n.Add(1) == 2 {
				bad(f, id)
				return
			}
			f.ok(id)
		}))
		wantBody(t, o, get("/first"), "ok")
		_, body, err := fetch(o, r())
		if (err == nil && body == "ok") != want {
			t.Errorf("%s: got %q, %v; want it repeated: %v", name, body, err, want)
		}
		if !want {
			wantKind(t, err, Cut)
		}
		wantBody(t, o, get("/last"), "ok")
		wanted := int32(3)
		if want {
			wanted++
		}
		if got := n.Load(); got != wanted {
			t.Errorf("%s: got %d requests, want %d", name, got, wanted)
		}
	}
	delet := func() *Request { return &Request{Method: "DELETE", Target: "/", Host: "h"} }
	whole := func() *Request {
		r := post(strings.NewReader("whole"), 5)
		r.Whole = []byte("whole")
		return r
	}
	body := func() *Request { return post(strings.NewReader("read"), 4) }
	getIt := func() *Request { return get("/") }
	f("GET refused", refuse, getIt, true)
	f("DELETE refused", refuse, delet, true)
	f("POST with a body at hand refused", refuse, whole, true)
	f("POST refused", refuse, body, false)
	f("GET goodbye", goodbye, getIt, true)
	f("DELETE goodbye", goodbye, delet, true)
	f("GET hung up", hangUp, getIt, true)
	f("DELETE hung up", hangUp, delet, true)
	f("GET reset", func(f *framer, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeInternal) }, getIt, false)
	f("GET hung up behind an interim response", func(f *framer, id uint32) {
		f.head(id, false, ":status", "103")
		_ = f.conn.Close()
	}, getIt, false)
}

// A server that refuses for ever, or says nothing but goodbye, is not asked for ever.
func TestARefusalIsRepeatedAFewTimes(t *testing.T) {
	for name, c := range map[string]struct {
		say  func(f *framer, id uint32)
		want int32
	}{
		"refused": {func(f *framer, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, maxTries},
		"goodbye": {func(f *framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) }, maxTries + maxGoAways},
	} {
		var n atomic.Int32
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			n.Add(1)
			c.say(f, id)
		}))
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Cut)
		if n.Load() != c.want {
			t.Errorf("%s: got %d requests, want %d", name, n.Load(), c.want)
		}
	}
}

func TestInterimResponsesByHTTP2(t *testing.T) {
	f := func(name string, count int, more string, passedOn int, want Kind) {
		t.Helper()
		o := byFrames(t, Options{MaxHeaderBytes: 4 << 10}, says(func(f *framer, id uint32) {
			f.head(id, false, ":status", "100")
			for i := range count {
				f.head(id, false, ":status", "103", "link", strconv.Itoa(i), "x-more", more)
			}
			f.ok(id)
		}))
		var got []string
		r := get("/")
		r.Interim = func(status int, header field.List) {
			link, _ := header.Get("Link")
			got = append(got, fmt.Sprintf("%d %s", status, link))
		}
		_, body, err := fetch(o, r)
		if want != 0 {
			wantKind(t, err, want)
			return
		}
		if err != nil || body != "ok" || len(got) != passedOn || passedOn > 0 && got[passedOn-1] != fmt.Sprint(103, passedOn-1) {
			t.Errorf("%s: got %q, %v and %q, want %d", name, body, err, got, passedOn)
		}
	}
	f("none", 0, "", 0, 0)
	f("all that are passed on", MaxInterim, "", MaxInterim, 0)
	f("one more", MaxInterim+1, "", MaxInterim, 0)
	f("many more", 100*MaxInterim, "", MaxInterim, 0)
	f("more bytes than are passed on", 50, strings.Repeat("x", 1<<10), 3, 0)
	f("too many bytes for one", 1, strings.Repeat("x", 4<<10), 0, Malformed)
}

func TestTrailersByHTTP2(t *testing.T) {
	f := func(name string, want Kind, trailers ...string) {
		t.Helper()
		o := byFrames(t, Options{}, says(func(f *framer, id uint32) {
			f.head(id, false, ":status", "200", "trailer", "X-Sum")
			_ = f.WriteData(id, false, []byte("ok"))
			f.head(id, true, trailers...)
		}))
		res, body, err := fetch(o, get("/"))
		if want != 0 {
			wantKind(t, err, want)
			return
		}
		announced, _ := res.Header.Get("Trailer")
		if err != nil || body != "ok" || announced != "X-Sum" || fmt.Sprint(res.Body.Trailers()) != "[{X-Other 2} {X-Sum 1}]" {
			t.Errorf("%s: got %q, %v, announced %q and %v", name, body, err, announced, res.Body.Trailers())
		}
	}
	f("announced and not", 0, "x-sum", "1", "x-other", "2")
	f("a line end", Malformed, "x-sum", "1\r\nx: y")
	f("connection", Malformed, "connection", "close")
	f("a pseudo-field", Malformed, ":status", "200")
}

func TestTrailersOfARequestByHTTP2(t *testing.T) {
	got := make(chan string, 1)
	o := byFrames(t, Options{}, func(_ int, f *framer) {
		id := f.request()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := frame.(*http2.MetaHeadersFrame); ok {
				got <- fmt.Sprint(h.RegularFields(), h.StreamEnded())
				f.ok(id)
			}
		}
	})
	r := post(strings.NewReader("abc"), -1)
	r.Trailers = func() field.List { return field.List{{Name: "X-Sum", Value: "1"}} }
	wantBody(t, o, r, "ok")
	if g := <-got; g != `[header field "x-sum" = "1"] true` {
		t.Errorf("got %s", g)
	}
	r = post(strings.NewReader("abc"), -1)
	r.Trailers = func() field.List { return field.List{{Name: "Content-Length", Value: "1"}} }
	_, _, err := fetch(o, r)
	wantKind(t, err, BadRequest)
}

// A body that is not as announced never ends as a whole one.
func TestABrokenUploadByHTTP2IsReset(t *testing.T) {
	panics := rescue.NewCounter(slog.New(slog.DiscardHandler))
	f := func(name string, want Kind, r *Request) {
		t.Helper()
		reset := make(chan bool, 1)
		o := byFrames(t, Options{Panics: panics}, func(_ int, f *framer) {
			f.request()
			for {
				frame, err := f.ReadFrame()
				if err != nil {
					reset <- false
					return
				}
				if d, ok := frame.(*http2.DataFrame); ok && d.StreamEnded() {
					reset <- false
					return
				}
				if _, ok := frame.(*http2.RSTStreamFrame); ok {
					reset <- true
					return
				}
			}
		})
		_, _, err := fetch(o, r)
		wantKind(t, err, want)
		if !<-reset {
			t.Errorf("%s: the server was given the end of it", name)
		}
		if n := openCount(o); n != 0 {
			t.Errorf("%s: got %d slots in use, want 0", name, n)
		}
	}
	f("short", BadRequest, post(strings.NewReader("abc"), 4))
	f("long", BadRequest, post(strings.NewReader("abcde"), 4))
	f("long by much", BadRequest, post(strings.NewReader(strings.Repeat("x", 1<<17)), 4))
	f("not empty", BadRequest, post(strings.NewReader("abc"), 0))
	f("broken", BadRequest, post(io.MultiReader(strings.NewReader("abc"), faultyBody{err: errors.New("gone")}), -1))
	f("without progress", BadRequest, post(faultyBody{}, -1))
	f("panicking", Fault, post(faultyBody{panics: true}, -1))
	if panics.Count() != 1 {
		t.Errorf("got %d panics, want 1", panics.Count())
	}
}

// faultyBody is a body that fails.
type faultyBody struct {
	err    error
	panics bool
}

func (f faultyBody) Read([]byte) (int, error) {
	if f.panics {
		panic("body")
	}
	return 0, f.err
}

// The body of a request is not read any more once RoundTrip has returned, and the response can be.
func TestAnEarlyAnswerByHTTP2EndsTheUpload(t *testing.T) {
	for _, status := range []string{"200", "413"} {
		o := byFrames(t, Options{}, func(_ int, f *framer) {
			id := f.request()
			f.head(id, false, ":status", status)
			_ = f.WriteData(id, false, []byte("ear"))
			f.untilHeard()
			_ = f.WriteData(id, true, []byte("ly"))
			_, _ = f.untilReset()
		})
		interrupted := make(chan struct{})
		r := post(&holdingBack{until: interrupted}, -1)
		r.Interrupt = func() { close(interrupted) }
		res, err := o.RoundTrip(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-interrupted:
		default:
			t.Error("the body is read on")
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || string(body) != "early" || openCount(o) != 0 {
			t.Errorf("%s: got %q, %v", status, body, err)
		}
	}
}

// holdingBack is a body that says nothing until it is interrupted.
type holdingBack struct {
	until chan struct{}
	begun bool
}

func (w *holdingBack) Read(p []byte) (int, error) {
	if !w.begun {
		w.begun = true
		return copy(p, "begun"), nil
	}
	<-w.until
	return 0, io.ErrClosedPipe
}

func TestAPanicByHTTP2EndsOneRequest(t *testing.T) {
	var log bytes.Buffer
	panics := rescue.NewCounter(slog.New(slog.NewTextHandler(&log, nil)))
	o := byFrames(t, Options{Panics: panics}, says(func(f *framer, id uint32) {
		f.head(id, false, ":status", "103")
		f.ok(id)
	}))
	r := get("/")
	r.Interim = func(int, field.List) { panic("interim") }
	_, _, err := fetch(o, r)
	wantKind(t, err, Fault)
	wantBody(t, o, get("/"), "ok")
	if panics.Count() != 1 || openCount(o) != 0 {
		t.Errorf("got %d panics and %d slots in use, want 1 and 0: %s", panics.Count(), openCount(o), log.String())
	}
}

// A server that gives a stream more of a window than there may be ends this stream, and no other.
func TestAWindowByHTTP2ThatIsTooLargeEndsItsStream(t *testing.T) {
	var bad atomic.Bool
	o := byFrames(t, Options{Settings: Settings{IdleTimeout: testkit.Patience, FirstByteTimeout: testkit.Patience}}, says(func(f *framer, id uint32) {
		if !bad.Swap(true) {
			_ = f.WriteWindowUpdate(id, 1<<31-1)
		}
		f.ok(id)
	}))
	soon(t, "a request", func() {
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Malformed)
		wantBody(t, o, get("/"), "ok")
	})
}
