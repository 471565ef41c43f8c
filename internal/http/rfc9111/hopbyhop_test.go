package rfc9111

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// RFC 9110 section 7.6.1, RFC 9111 section 3.1.
func TestHopByHop(t *testing.T) {
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
	} {
		if !HopByHop(name) {
			t.Errorf("%s: got end-to-end, want hop-by-hop", name)
		}
	}
	for _, name := range []string{
		"", "Host", "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Cache-Control", "Set-Cookie",
		"Etag", "Vary", "Via", "Date", "Authorization", "Www-Authenticate", "Expect", "Test-Header",
	} {
		if HopByHop(name) {
			t.Errorf("%s: got hop-by-hop, want end-to-end", name)
		}
	}
}

func TestConnectionOptions(t *testing.T) {
	f := func(value string, want ...string) {
		t.Helper()
		got := slices.Collect(ConnectionOptions(value))
		if !cmp.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
		var fromBytes []string
		for option := range ConnectionOptions([]byte(value)) {
			fromBytes = append(fromBytes, string(option))
		}
		if !cmp.Equal(fromBytes, want) {
			t.Errorf("bytes %q: got %q, want %q", value, fromBytes, want)
		}
	}
	f("")
	f("close")
	f("Keep-Alive, CLOSE")
	f("a, b", "a", "b")
	f(" ,a ,,\tX-Foo,close", "a", "X-Foo")
	f("a b, c", "c")
	f(`"a", c;d, e`, "e")
	// Listing them breaks the rule for senders; obeying would break the message.
	f("Host, content-length, Content-Type, Content-Encoding, Content-Range")
	f("Cache-Control, CDN-Cache-Control, Surrogate-Control, Expires, Date, Age, Vary, ETag, Last-Modified")
	f("Via, CDN-Loop, Max-Forwards")
	f("x-content-length, hosts", "x-content-length", "hosts")
}

func TestConnectionOptionsStopsWhenAsked(t *testing.T) {
	for option := range ConnectionOptions("a, b") {
		if option != "a" {
			t.Errorf("got %q after the loop was left, want only a", option)
		}
		break
	}
}

func TestEndToEnd(t *testing.T) {
	h := head(t,
		"Date: x", "Connection: close, A", "A: 1", "Content-Length: 5", "connection: b, Content-Length, cache-control",
		"Cache-Control: private", "B: 2", "b: 3", "C: 4", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked",
		"TE: trailers", "Set-Cookie: a=b", "Set-Cookie: c=d")
	before := slices.Clone(h)
	want := head(t, "Date: x", "Content-Length: 5", "Cache-Control: private", "C: 4", "Set-Cookie: a=b", "Set-Cookie: c=d")
	if d := cmp.Diff(want, EndToEnd(h)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, h); d != "" {
		t.Errorf("EndToEnd changed its argument (-want +got):\n%s", d)
	}
	if got := EndToEnd(nil); len(got) != 0 {
		t.Errorf("of nothing: got %v, want nothing", got)
	}
}

// A long Connection must cost time in its length, not its square.
func TestEndToEndOfManyOptions(t *testing.T) {
	h := head(t, "Connection: "+strings.Repeat("x,", 32<<10))
	for range 10_000 {
		h.Add("X", "1")
	}
	h.Add("Y", "2")
	if got, want := EndToEnd(h), head(t, "Y: 2"); !cmp.Equal(got, want) {
		t.Errorf("got %d fields, want %v", len(got), want)
	}
}
