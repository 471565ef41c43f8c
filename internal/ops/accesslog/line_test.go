package accesslog

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/ops/lines"
)

// written returns what a log writes for the lines.
func written(t testing.TB, lines ...*Line) string {
	t.Helper()
	var buf bytes.Buffer
	l, err := New(&buf, Options{})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	for _, line := range lines {
		l.Write(line)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if n := l.Dropped(); n != 0 {
		t.Fatalf("Dropped: got %d, want 0", n)
	}
	return buf.String()
}

func sample() *Line {
	return &Line{
		Time: time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.FixedZone("CET", 3600)),
		Host: []byte("www.example.com"), Target: []byte("/a?b=c&d=<e>"), Method: []byte("GET"),
		Status: 200, Bytes: 5_000_000_000, Result: "held_back", Reason: "first-sighting", Route: "default",
		Duration: 1500*time.Millisecond + 400*time.Nanosecond, FirstByte: time.Microsecond,
		Client: netip.MustParseAddr("192.0.2.1"),
	}
}

func TestLineHasEveryKeyInTheDocumentedOrder(t *testing.T) {
	f := func(line *Line, want string) {
		t.Helper()
		if diff := cmp.Diff(want+"\n", written(t, line)); diff != "" {
			t.Errorf("line differs (-want +got):\n%s", diff)
		}
	}
	const none = `,"sightings":0,"ttl":0,"user_agent":"","referer":"","request_id":"","trace_id":"","user":"",` +
		`"origin":"","origin_connect":0,"origin_first_byte":0,"origin_total":0}`
	f(sample(), `{"time":"2026-03-04T04:06:07.123456Z","host":"www.example.com","target":"/a?b=c&d=<e>","method":"GET",`+
		`"status":200,"bytes":5000000000,"result":"held_back","reason":"first-sighting","route":"default",`+
		`"duration":1.5,"first_byte":0.000001,"client":"192.0.2.1","scheme":"","protocol":""`+none)
	f(&Line{Time: time.Unix(0, 0)}, `{"time":"1970-01-01T00:00:00.000000Z","host":"","target":"","method":"",`+
		`"status":0,"bytes":0,"result":"","reason":"","route":"",`+
		`"duration":0,"first_byte":0,"client":"","scheme":"","protocol":""`+none)
	f(full(), `{"time":"2026-03-04T04:06:07.123456Z","host":"www.example.com","target":"/a?b=c&d=<e>","method":"GET",`+
		`"status":200,"bytes":5000000000,"result":"held_back","reason":"first-sighting","route":"default",`+
		`"duration":1.5,"first_byte":0.000001,"client":"192.0.2.1","scheme":"https","protocol":"HTTP/2.0",`+
		`"sightings":3,"ttl":-61,"user_agent":"curl/8.5.0","referer":"https://example.com/","request_id":"r-1",`+
		`"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","user":"ann","origin":"10.0.0.1:80","origin_connect":0.0123,"origin_first_byte":0.1,"origin_total":12.345678}`)
}

// full is a line with every field.
func full() *Line {
	l := sample()
	l.Scheme, l.Protocol, l.Sightings, l.TTL = "https", "HTTP/2.0", 3, -61900*time.Millisecond
	l.UserAgent, l.Referer, l.RequestID = []byte("curl/8.5.0"), []byte("https://example.com/"), []byte("r-1")
	l.TraceID, l.Origin = []byte("4bf92f3577b34da6a3ce929d0e0e4736"), "10.0.0.1:80"
	l.User = []byte("ann")
	l.OriginConnect, l.OriginFirstByte, l.OriginTotal = 12300*time.Microsecond, 100*time.Millisecond, 12345678*time.Microsecond
	return l
}

func TestClientAddressForms(t *testing.T) {
	f := func(addr netip.Addr, want string) {
		t.Helper()
		line := sample()
		line.Client = addr
		if got := decode(t, written(t, line)).Client; got != want {
			t.Errorf("client %v: got %q, want %q", addr, got, want)
		}
	}
	f(netip.Addr{}, "")
	f(netip.MustParseAddr("2001:db8::1"), "2001:db8::1")
	f(netip.MustParseAddr("::ffff:192.0.2.7"), "192.0.2.7")
	f(netip.MustParseAddr("fe80::1").WithZone("e\"th\n0"), "fe80::1%e\"th\n0")
}

// decoded is the text of a line as a reader sees it.
type decoded struct {
	Host, Target, Method, Reason, Client string
}

// decode fails unless s is exactly one line of one JSON object.
func decode(t testing.TB, s string) decoded {
	t.Helper()
	if strings.Count(s, "\n") != 1 || !strings.HasSuffix(s, "\n") {
		t.Fatalf("got %q, want one line", s)
	}
	var d decoded
	if err := json.Unmarshal([]byte(s), &d); err != nil {
		t.Fatalf("line %q: %v", s, err)
	}
	return d
}

// asRead is what a reader gets for bytes from a client: each invalid byte is
// one U+FFFD, everything else itself.
func asRead(b []byte) string { return string([]rune(string(b))) }

func checkRoundTrip(t testing.TB, host, target, method []byte) {
	t.Helper()
	line := sample()
	line.Host, line.Target, line.Method = host, target, method
	text := written(t, line)
	if i := strings.IndexFunc(strings.TrimSuffix(text, "\n"), lines.Unsafe); i >= 0 {
		t.Errorf("got %q, which is unsafe, in the line", []rune(text[i:])[0])
	}
	checkText(t, line)
	d := decode(t, text)
	got := []string{d.Host, d.Target, d.Method, d.Reason, d.Client}
	want := []string{asRead(host), asRead(target), asRead(method), line.Reason, line.Client.String()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back differs (-want +got):\n%s", diff)
	}
}

func TestHostileBytesStayInsideTheirValue(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, b := range [][]byte{
		nil,
		every,
		[]byte(`","status":500,"x":"`),
		[]byte("\r\n{\"time\":\"forged\"}\n"),
		[]byte(`\`), []byte(`\u0041`), []byte(`"`),
		[]byte("a\x00b\x1b[31m\x7f"),
		[]byte("\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"),
		[]byte("gr\u00fc\u00df \u4e16 \U0001f600 \u2028 \ufffd"),
		[]byte("cut \xe4\xb8"),
		[]byte("\u0080\u0085\u009b31m\u009f\u00a0"),
		[]byte("\u061c\u200e\u200f\u202e\u2029\u2066\u2069"),
		bytes.Repeat([]byte{'"', 0xff}, 5000),
	} {
		checkRoundTrip(t, b, b, b)
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("h"), []byte("/\"\\\n\x00\xff"), []byte("GET"))
	f.Add([]byte("\xed\xa0\x80"), []byte("\u2028"), []byte("\x7f"))
	f.Fuzz(func(t *testing.T, host, target, method []byte) { checkRoundTrip(t, host, target, method) })
}
