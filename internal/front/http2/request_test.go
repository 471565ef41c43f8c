package http2

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
)

// TestWhatIsMalformedIsRefusedAndReset: each gets 400, which the engine counts, and the reset that
// RFC 9113 section 8.1.1 asks for. The connection goes on.
func TestWhatIsMalformedIsRefusedAndReset(t *testing.T) {
	_, address := serve(t, &engine{}, nil)
	f := func(name string, pairs ...string) {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address)
			got := c.one(pairs...)
			f, err := c.next()
			reset, ok := f.(*xhttp2.RSTStreamFrame)
			if got.value(":status") != "400" || err != nil || !ok || reset.ErrCode != xhttp2.ErrCodeProtocol {
				t.Errorf("got %q, then %v, %v; want 400, then PROTOCOL_ERROR", got.value(":status"), f, err)
			}
			c.ask(3, true, plain("GET", "/")...)
			all, err := c.take(3)
			if err != nil || all[3].text != "ok" {
				t.Errorf("the next one: got %q, %v, want ok", all[3].text, err)
			}
		})
	}
	without := func(name string) (out []string) {
		all := plain("GET", "/")
		for i := 0; i < len(all); i += 2 {
			if all[i] != name {
				out = append(out, all[i], all[i+1])
			}
		}
		return out
	}
	for _, name := range []string{":method", ":scheme", ":path"} {
		f("no "+name, without(name)...)
		f("empty "+name, append(without(name), name, "")...)
		f("twice "+name, plain("GET", "/", name, "GET")...)
		f(name+" after a field", append(append(without(name), "x-a", "1"), name, "/")...)
	}
	f("nothing but a field", "x-a", "1")
	f("unknown pseudo-field", plain("GET", "/", ":protocol", "websocket")...)
	f(":status", plain("GET", "/", ":status", "200")...)
	f("other scheme", append(without(":scheme"), ":scheme", "ftp")...)
	f("twice :authority", plain("GET", "/", ":authority", "www.example.com")...)
	f("empty authority", append(without(":authority"), ":authority", "")...)
	f("space in :authority", append(without(":authority"), ":authority", "a b")...)
	f("line in :authority", append(without(":authority"), ":authority", "a\r\nx-b: c")...)
	f("other Host", plain("GET", "/", "host", "other.example")...)
	f("two of Host", append(without(":authority"), "host", "a", "host", "b")...)
	f("no token as method", plain("GET /", "/")...)
	f("line in :path", plain("GET", "/ HTTP/1.1\r\nX-A: b")...)
	f("space in :path", plain("GET", "/a b")...)
	f("DEL in :path", plain("GET", "/\x7f")...)
	f("whole URL", plain("GET", "https://other.example/")...)
	f("no slash", plain("GET", "a")...)
	f("* and GET", plain("GET", "*")...)
	f("CONNECT with :path", plain("CONNECT", "/")...)
	f("CONNECT without :authority", ":method", "CONNECT")
	f("upper case", plain("GET", "/", "X-A", "b")...)
	f("space in a name", plain("GET", "/", "x a", "b")...)
	f("colon in a name", plain("GET", "/", "x:a", "b")...)
	f("empty name", plain("GET", "/", "", "b")...)
	f("high byte in a name", plain("GET", "/", "x\x80", "b")...)
	f("line in a value", plain("GET", "/", "x-a", "b\r\nx-c: d")...)
	f("LF in a value", plain("GET", "/", "x-a", "b\nc")...)
	f("NUL in a value", plain("GET", "/", "x-a", "b\x00")...)
	f("space before a value", plain("GET", "/", "x-a", " b")...)
	f("tab after a value", plain("GET", "/", "x-a", "b\t")...)
	for _, name := range []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"} {
		f(name, plain("GET", "/", name, "x")...)
	}
	f("TE", plain("GET", "/", "te", "gzip")...)
	f("TE of two", plain("GET", "/", "te", "trailers, gzip")...)
	f("no number as length", plain("POST", "/", "content-length", "a")...)
	f("signed length", plain("POST", "/", "content-length", "+0")...)
	f("huge length", plain("POST", "/", "content-length", "99999999999999999999")...)
	f("two lengths", plain("POST", "/", "content-length", "0", "content-length", "1")...)
	f("list of lengths", plain("POST", "/", "content-length", "0, 0")...)
	f("length of nothing", plain("POST", "/", "content-length", "5")...)
}

// TestTheEngineGetsWhatWasAsked in the words of message.
func TestTheEngineGetsWhatWasAsked(t *testing.T) {
	seen := make(chan string, 1)
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		text := fmt.Sprintf("%s %s %s", r.Method, r.Target, r.Host)
		for _, l := range r.Lines {
			text += fmt.Sprintf("|%s=%s", l.Name, l.Value)
		}
		if r.Body != nil {
			text += fmt.Sprintf("|body %d %q", r.Body.Length(), r.Body.Announced())
		}
		seen <- text
		say(a, "ok")
		return nil
	}}
	_, address := serve(t, e, nil)
	f := func(want string, end bool, pairs ...string) {
		t.Helper()
		c := dial(t, address)
		c.ask(1, end, pairs...)
		if _, err := c.take(1); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("GET /a?b www.example.com", true, plain("GET", "/a?b")...)
	f("OPTIONS * www.example.com", true, plain("OPTIONS", "*")...)
	f("CONNECT a:443 a:443", true, ":method", "CONNECT", ":authority", "a:443")
	f("GET / h|host=h", true, ":method", "GET", ":scheme", "http", ":path", "/", "host", "h")
	f("GET / ", true, ":method", "GET", ":scheme", "http", ":path", "/")
	f("GET / www.example.com|x-a=1|cookie=a=b; c=d; e=f|x-a=2|te=trailers", true,
		plain("GET", "/", "x-a", "1", "cookie", "a=b", "cookie", "c=d", "x-a", "2", "cookie", "e=f", "te", "trailers", "http2-settings", "x")...)
	f("POST / www.example.com|content-length=0", true, plain("POST", "/", "content-length", "0")...)
	f("POST / www.example.com|content-length=5|body 5 []", false, plain("POST", "/", "content-length", "5")...)
	f(`POST / www.example.com|trailer=x-in, X-sum|body -1 ["X-In" "X-Sum"]`, false, plain("POST", "/", "trailer", "x-in, X-sum")...)
}

// TestAHeadThatIsTooLongGets431 and the connection goes on with the same table.
func TestAHeadThatIsTooLongGets431(t *testing.T) {
	_, address := serve(t, &engine{}, func(o *Options) { o.HeaderBytes = 4 << 10 })
	c := dial(t, address)
	id := uint32(1)
	for _, size := range []int{1, 4000, 4200, 4300, 6000} {
		c.ask(id, true, plain("GET", "/", "x-a", strings.Repeat("a", size), "x-b", "1")...)
		all, err := c.take(id)
		if err != nil {
			t.Fatal(err)
		}
		want := "200"
		if size > 4000 {
			want = "431"
		}
		if got := all[id].value(":status"); got != want {
			t.Errorf("%d bytes: got %s, want %s", size, got, want)
		}
		id += 2
	}
	many := plain("GET", "/")
	for range 200 {
		many = append(many, "a", "b")
	}
	c.ask(id, true, many...)
	if all, err := c.take(id); err != nil || all[id].value(":status") != "431" {
		t.Errorf("many fields: got %s, %v, want 431", all[id].value(":status"), err)
	}
}

// echo answers with what came, once it has come whole, and with how it ended.
func echo(r *message.Request, a *message.Answer) message.Pending {
	if r.Body == nil {
		say(a, "nothing")
		return nil
	}
	return later(func() {
		b, err := io.ReadAll(asReader{r.Body})
		trailers, _ := r.Body.Trailers()
		say(a, fmt.Sprintf("%s %v %v", b, err, trailers))
	})
}

// TestContentsHaveTheirLength, their padding is none of it, and trailers follow them.
func TestContentsHaveTheirLength(t *testing.T) {
	_, address := serve(t, &engine{begin: echo}, nil)
	f := func(want string, code xhttp2.ErrCode, length string, trailers []string, data ...string) {
		t.Helper()
		c := dial(t, address)
		head := plain("POST", "/")
		if length != "" {
			head = append(head, "content-length", length)
		}
		c.ask(1, false, head...)
		for i, d := range data {
			_ = c.WriteDataPadded(1, trailers == nil && i == len(data)-1, []byte(d), make([]byte, 3))
		}
		if trailers != nil {
			c.ask(1, trailers[0] != "open", trailers[1:]...)
		}
		all, err := c.take(1)
		if err != nil {
			t.Fatal(err)
		}
		if g := all[1]; g.text != want || g.reset != code {
			t.Errorf("length %q, trailers %q, data %q: got %q, %v; want %q, %v", length, trailers, data, g.text, g.reset, want, code)
		}
	}
	f("abcdef <nil> []", 0, "", nil, "abc", "def")
	f("abcdef <nil> []", 0, "6", nil, "abc", "def")
	f("abc <nil> []", 0, "3", nil, "abc", "")
	f("", xhttp2.ErrCodeProtocol, "7", nil, "abc", "def")
	f("", xhttp2.ErrCodeProtocol, "5", nil, "abc", "def")
	f("abc <nil> [{X-In 1} {X-In 2}]", 0, "", []string{"", "x-in", "1", "x-in", "2"}, "abc")
	f("abc <nil> [{X-In 1}]", 0, "3", []string{"", "x-in", "1"}, "abc")
	f("", xhttp2.ErrCodeProtocol, "4", []string{"", "x-in", "1"}, "abc")
	f("", xhttp2.ErrCodeProtocol, "", []string{"open", "x-in", "1"}, "abc")
	f("", xhttp2.ErrCodeProtocol, "", []string{"", ":path", "/"}, "abc")
	f("", xhttp2.ErrCodeProtocol, "", []string{"", "x-in", "1\r\n"}, "abc")
	f("", xhttp2.ErrCodeProtocol, "", []string{"", "X-In", "1"}, "abc")
	for _, name := range []string{"connection", "host", "content-length", "authorization", "cookie", "if-match", "trailer"} {
		f("", xhttp2.ErrCodeProtocol, "", []string{"", name, "x"}, "abc")
	}
}

// TestContinueIsSentWhereTheEngineAllowsIt, and only where content is to come.
func TestContinueIsSentWhereTheEngineAllowsIt(t *testing.T) {
	e := &engine{begin: echo, expect: func(r *message.Request, a *message.Answer) bool {
		if string(r.Target) == "/no" {
			a.Status, a.Length = 413, 0
			return false
		}
		return true
	}}
	_, address := serve(t, e, nil)
	for path, want := range map[string]string{"/no": "413 0 ", "/yes": "200 1 abc <nil> []"} {
		c := dial(t, address)
		c.ask(1, false, plain("POST", path, "expect", "100-Continue")...)
		if path == "/yes" {
			f, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			g := &got{}
			c.add(g, f)
			if g.interims != 1 {
				t.Errorf("got %v, want 100 before the content", f)
			}
			_ = c.WriteData(1, true, []byte("abc"))
		}
		all, err := c.take(1)
		if err != nil {
			t.Fatal(err)
		}
		if g := all[1]; path == "/yes" && g.text != "abc <nil> []" || path == "/no" && g.value(":status") != "413" {
			t.Errorf("%s: got %s %q, want %s", path, g.value(":status"), g.text, want)
		}
	}
	c := dial(t, address)
	if g := c.one(plain("GET", "/no", "expect", "100-continue")...); g.text != "nothing" || g.interims > 0 {
		t.Errorf("without content: got %q, %d interim responses", g.text, g.interims)
	}
}

// TestAnswersAreWritten: interim responses, heads with and without content, trailers.
func TestAnswersAreWritten(t *testing.T) {
	f := func(name, method, want string, begin func(*message.Request, *message.Answer) message.Pending) {
		t.Helper()
		_, address := serve(t, &engine{begin: begin}, nil)
		c := dial(t, address)
		g := c.one(plain(method, "/")...)
		text := fmt.Sprintf("%d", g.interims)
		for _, f := range slices.Concat(g.fields, g.trailers) {
			text += " " + f.Name + "=" + f.Value
		}
		if text += " " + g.text + fmt.Sprint(" ", g.ended); text != want {
			t.Errorf("%s: got %s, want %s", name, text, want)
		}
	}
	list := fieldList("Etag", `"a"`, "X-Own", "1", "Connection", "x", "Set-Cookie", "a=b")
	head := func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status, a.Length, a.Fields = 206, 5, list
		a.Lines = append(a.Lines, "Date: now\r\nX-Odd:y\r\nKeep-Alive: 1\r\n"...)
		a.Say([]byte("01234"))
		return nil
	}
	f("a head with all", "GET", `0 :status=206 content-length=5 etag="a" x-own=1 set-cookie=a=b date=now x-odd=y 01234 true`, head)
	f("HEAD", "HEAD", `0 :status=206 content-length=5 etag="a" x-own=1 set-cookie=a=b date=now x-odd=y  true`, head)
	f("304", "GET", "0 :status=304 content-length=7  true", func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status, a.Length = 304, 7
		a.Say([]byte("01234"))
		return nil
	})
	f("204", "GET", "0 :status=204  true", func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status, a.Length = 204, 0
		return nil
	})
	piecewise := func(length int64, trailers ...string) func(*message.Request, *message.Answer) message.Pending {
		return func(r *message.Request, a *message.Answer) message.Pending {
			return later(func() {
				r.Interim(103, fieldList("Link", "</a>"))
				r.Interim(103, fieldList("Link", "</b>"))
				left := []string{"01", "", "234"}
				a.Status, a.Length = 200, length
				a.Content = &pieces{trailers: fieldList(trailers...), next: func() ([]byte, error) {
					if len(left) == 0 {
						return nil, io.EOF
					}
					p := left[0]
					left = left[1:]
					return []byte(p), nil
				}}
			})
		}
	}
	f("pieces", "GET", "2 :status=200 01234 true", piecewise(-1))
	f("pieces with trailers", "GET", "2 :status=200 content-length=5 x-sum=1 01234 true", piecewise(5, "X-Sum", "1", "Connection", "x"))
	f("pieces with trailers that may not be", "GET", "2 :status=200 01234 true", piecewise(-1, "Connection", "x"))
	f("fewer than announced", "GET", "2 :status=200 content-length=6 01234 false", piecewise(6))
	f("no such answer", "GET", "0  false", func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status = 101
		return nil
	})
}
