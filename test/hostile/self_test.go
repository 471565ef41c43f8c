package hostile

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Tests of the corpus itself: that a case which does not hold is seen.

// relay is an edge that hands on every byte, both ways, and says that it stored so
// many responses for each look at it.
func relay(t *testing.T, writes int64) *rig {
	t.Helper()
	o := startOrigin(t)
	address := testkit.Accept(t, "127.0.0.1:0", func(client net.Conn) { join(client, o.listener.Addr().String()) })
	total := int64(0)
	return &rig{
		origin: o, address: address,
		counts: func() (counts, error) {
			total += writes
			return counts{writes: total, requests: 10 * plays.Load()}, nil
		},
		idle:  func() (int, error) { return 1 << 20, nil },
		purge: func() error { return nil },
	}
}

// join copies both ways until either end closes.
func join(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// TestWhatDoesNotHoldIsSeen plays cases before an edge that lets everything through.
func TestWhatDoesNotHoldIsSeen(t *testing.T) {
	f := func(name string, r *rig, lines string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			cases, err := parse("case x\n  # RFC 9112 section 6\n" + lines)
			if err != nil {
				t.Fatal(err)
			}
			err = r.run(cases[0], inLine)
			if err == nil {
				t.Fatal("the case holds")
			}
			for _, w := range want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not among what does not hold: %v", w, err)
				}
			}
		})
	}
	const get, ok = "  send GET /a HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n", "  -> 200 /a\n  -> open\n  -> origin GET /a | Host: h\n"
	f("two lengths", relay(t, 0), `  send POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
  -> refused 400`, "the origin got framed twice")
	f("a bare LF", relay(t, 0), `  send GET /a HTTP/1.1\r\nHost: h\nX: y\r\n\r\n
  -> refused 400`, "the origin got control byte")
	f("a second request", relay(t, 0), get+`GET /a/2 HTTP/1.1\r\nHost: h\r\n\r\n
`+ok+"  -> stored none", "GET /a/2 | Host: h", `body "/a/2", want`)
	f("an answer that is another's", relay(t, 0), get+`
  say HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray
  -> 200 hello
  -> open
  -> origin GET /a | Host: h
  -> stored none`, `body "stray"`)
	f("what is no response", relay(t, 0), get+`
  say HTTP/1.1 200 OK\r\nX: y\nContent-Length: 5\r\n\r\nhello
  say-end
  -> 200 hello
  -> dropped
  -> origin GET /a | Host: h
  -> stored none`, "the client got what is no response")
	f("a body that breaks", relay(t, 0), get+`
  say HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello
  say-end
  -> 200 hello
  -> dropped
  -> origin GET /a | Host: h
  -> stored none`, "a 200 broke after 5 bytes")
	f("stored", relay(t, 1), get+"\n"+ok+"  -> stored none", "want 0", "from the cache")
	f("not stored", relay(t, 0), get+"\n"+ok+"  -> stored /a /a", "stored 0 responses, want 1")
}

func TestMessagesAreCutStrictly(t *testing.T) {
	f := func(text string, bodyless, ended bool, body, rest string) {
		t.Helper()
		m, got, err := cutMessage(text, bodyless, ended)
		if err != nil || m.body != body || got != rest || !m.whole {
			t.Errorf("%q: got %q and the rest %q, error %v; want %q and %q", text, m.body, got, err, body, rest)
		}
	}
	const get, ok = "GET / HTTP/1.1\r\nHost: h\r\n", "HTTP/1.1 200 OK\r\n"
	f(get+"\r\nx", false, false, "", "x")
	f(get+"Content-Length: 1\r\n\r\nxy", false, false, "x", "y")
	f(get+"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: y\r\n\r\nz", false, false, "x", "z")
	f(ok+"\r\nxy", false, true, "xy", "")
	f(ok+"Content-Length: 2\r\n\r\nxy", true, false, "", "xy")
	f("HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nxy", false, false, "", "xy")
	f("HTTP/1.1 103 Early Hints\r\n\r\nxy", false, false, "", "xy")

	for _, text := range []string{"", get, get + "Content-Length: 2\r\n\r\nx", get + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", ok + "\r\nx"} {
		if m, _, err := cutMessage(text, false, false); !errors.Is(err, errMore) || m.whole {
			t.Errorf("%q: got %v, want more", text, err)
		}
	}
	for _, text := range []string{
		"GET / HTTP/1.1\r\n\r\n", get + "Host: h\r\n\r\n", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\nHost: h\r\n\r\n", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
		get + "X : y\r\n\r\n", get + " X: y\r\n\r\n", get + "X: y\nZ: y\r\n\r\n", get + "X: \x00\r\n\r\n", get + "X\r\n\r\n",
		get + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", get + "Content-Length: +1\r\n\r\nx",
		get + "Transfer-Encoding: gzip\r\n\r\n", get + "Transfer-Encoding: chunked\r\n\r\nx\r\n", get + "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz0\r\n\r\n",
		ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
	} {
		if _, _, err := cutMessage(text, false, true); err == nil || errors.Is(err, errMore) {
			t.Errorf("%q: got %v, want it refused", text, err)
		}
	}
}

func TestCasesThatSayTooLittleAreRefused(t *testing.T) {
	const head, all = "case x\n  # RFC 9112 section 6\n", "  -> refused 400\n"
	if _, err := parse(head + "  send x\n" + all); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"  send x\n", "case x\n  send x\n" + all, "case x\n  # no section\n  send x\n" + all, "case\n  # RFC 9112 section 6\n  send x\n" + all,
		head + all, head + "  send\n" + all, head + "  send x\n", head + "  send x\n  -> 400\n  -> closed\n  -> origin none\n",
		head + "  send x\n  -> 400\n  -> closed\n  -> stored none\n", head + "  send x\n  -> 400\n  -> stored none\n  -> origin none\n",
		head + "  sent x\n" + all, head + "  send \\x\n" + all, head + "  send-drip 1 x\n" + all, head + "  send-cut x\n" + all, head + "  leave now\n" + all,
		head + "  send x\n  -> 4000\n" + all, head + "  send x\n  -> perhaps\n" + all, head + "  for x y\n  send x\n" + all, head + "  cuts body\n  send x\n" + all,
		head + "  last\n  send x\n  -> 200\n  -> open\n  -> origin none\n  -> stored none\n",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
