package proxy

import (
	"bufio"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/route/setting"
)

// asksOf reads the fields, lines that end in CRLF, as those of a GET.
func asksOf(t *testing.T, fields string) (asks, seen, string) {
	t.Helper()
	head := "GET / HTTP/1.1\r\nHost: example.com\r\n" + fields + "\r\n"
	x := received(t, head)
	return x.asks, x.seen, head
}

func TestReadAsksFindsNoOtherField(t *testing.T) {
	f := func(fields string, want asks) {
		t.Helper()
		want.get = true
		if got, _, _ := asksOf(t, fields); got != want {
			t.Errorf("%q: got %+v, want %+v", fields, got, want)
		}
	}
	f("", asks{})
	f("Accept: */*\r\n", asks{})
	// Any case, an empty value, no space, a colon in the value.
	f("RANGE: bytes=0-1\r\n", asks{ranged: true})
	f("rAnGe:\r\n", asks{ranged: true})
	f("range:bytes=0-1:2\r\n", asks{ranged: true})
	// Shorter, longer, in a value, or a byte that lower case would bring close.
	f("Rang: x\r\nRanges: x\r\nX-Range: x\r\nX: Range: x\r\nIf-Range: x\r\n", asks{})
	f("If_Match: x\r\nIf.Match: x\r\n", asks{})
	f("If-Unmodified-Since-Then: x\r\n"+strings.Repeat("x", 100)+": x\r\n", asks{})
	f("Authorization: Basic eA==\r\nCookie: a=b\r\n", asks{authorization: true, cookie: true})
	f("If-None-Match: *\r\n", asks{conditional: true})
	f("If-Modified-Since: x\r\n", asks{conditional: true})
	f("If-Match: *\r\n", asks{precondition: true})
	f("If-Unmodified-Since: x\r\n", asks{precondition: true})
	f("Upgrade: websocket\r\nExpect: 100-continue\r\n", asks{upgrade: true})
	f("Connection: keep-alive\r\n", asks{})
	f("Connection: close\r\n", asks{})
	f("Connection: keep-alive\r\nConnection: close, X-Thing\r\n", asks{connectionNames: true})
	f("Content-Length: 3\r\n", asks{body: true})
	f("Content-Length: 0\r\n", asks{})
	f("Transfer-Encoding: chunked\r\n", asks{body: true})
}

// What our pass over the fields finds has to be what another parser finds.
func TestReadAsksAgreesWithTheParser(t *testing.T) {
	names := []string{
		"Authorization", "Cookie", "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
		"Upgrade", "Expect", "Connection", "Cache-Control", "Accept", "X-Range", "Ran", "If-Range", "Te", "Content-Type",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
	}
	values := []string{"", "x", "close", "keep-alive, x", ": :", "\t x \t", "Range: x"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var fields strings.Builder
		for range rnd.IntN(6) {
			name := []byte(names[rnd.IntN(len(names))])
			for i := range name {
				if rnd.IntN(3) == 0 && name[i] != '-' {
					name[i] ^= 0x20
				}
			}
			fields.WriteString(string(name) + ":" + values[rnd.IntN(len(values))] + "\r\n")
		}
		a, s, head := asksOf(t, fields.String())
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		has := func(name string) bool { return len(r.Header.Values(name)) > 0 }
		got := []bool{a.authorization, a.cookie, a.ranged, a.conditional, a.precondition, a.upgrade, s.expect, s.connection, s.cacheControl, s.forwarded, s.xForwarded}
		want := []bool{
			has("Authorization"), has("Cookie"), has("Range"), has("If-None-Match") || has("If-Modified-Since"),
			has("If-Match") || has("If-Unmodified-Since"), has("Upgrade"), has("Expect"), has("Connection"), has("Cache-Control"),
			has("Forwarded"), has("X-Forwarded-For") || has("X-Forwarded-Proto") || has("X-Forwarded-Host"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-parser +own):\n%s", fields.String(), diff)
		}
	}
}

// BenchmarkGate is what a request passes before it is decided: 400 bytes of fields,
// target, host, expectation.
func BenchmarkGate(b *testing.B) {
	const head = "GET /articles/2024/05/index.html?page=2 HTTP/1.1\r\nHost: www.example.com\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n" +
		"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nCookie: session=0123456789abcdef\r\nReferer: http://www.example.com/\r\n\r\n"
	r, _ := readRequest(head)
	r.Host = []byte("www.example.com")
	p, x := &Proxy{}, newExchange()
	s := &settings{Live: Live{Limits: setting.Limits{TargetBytes: 8 << 10, HeaderCount: 100, BodyBytes: 1 << 20}}}
	b.ReportAllocs()
	for b.Loop() {
		x.reset()
		x.req, x.settings, x.method, x.scheme = r, s, r.Method, schemePlain
		if status, _ := p.checkRequest(x, nil); status != 0 || p.loops(x) {
			b.Fatal(status)
		}
	}
}
