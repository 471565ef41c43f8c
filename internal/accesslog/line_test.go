package accesslog

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		Status: 200, Bytes: 5_000_000_000, Result: "scarce", Reason: "first-sighting", Route: "default",
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
	f(sample(), `{"time":"2026-03-04T04:06:07.123456Z","host":"www.example.com","target":"/a?b=c&d=<e>","method":"GET",`+
		`"status":200,"bytes":5000000000,"result":"scarce","reason":"first-sighting","route":"default",`+
		`"duration":1.5,"first_byte":0.000001,"client":"192.0.2.1"}`)
	f(&Line{Time: time.Unix(0, 0)}, `{"time":"1970-01-01T00:00:00.000000Z","host":"","target":"","method":"",`+
		`"status":0,"bytes":0,"result":"","reason":"","route":"",`+
		`"duration":0,"first_byte":0,"client":""}`)
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
	d := decode(t, written(t, line))
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
