package accesslog

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everything is a template with every field.
func everything() string {
	var names []string
	for _, f := range Fields() {
		names = append(names, "{"+f.Name+"}")
	}
	return `"` + strings.Join(names, `" "`) + `"`
}

// formats are all formats there are.
func formats(t testing.TB) map[string]*Format {
	t.Helper()
	return map[string]*Format{"json": nil, "combined": Combined(), "template": mustTemplate(t, everything())}
}

func mustTemplate(t testing.TB, template string) *Format {
	t.Helper()
	f, err := Template(template)
	if err != nil {
		t.Fatalf("%s: %v", template, err)
	}
	return f
}

func as(f *Format, l *Line) string { return string(f.append(nil, new(clock), l)) }

func TestCombinedIsThatOfApacheAndNginx(t *testing.T) {
	f := func(l *Line, want string) {
		t.Helper()
		if diff := cmp.Diff(want+"\n", as(Combined(), l)); diff != "" {
			t.Errorf("line differs (-want +got):\n%s", diff)
		}
	}
	f(full(), `192.0.2.1 - ann [04/Mar/2026:04:06:07 +0000] "GET /a?b=c&d=<e> HTTP/2.0" 200 5000000000 "https://example.com/" "curl/8.5.0"`)
	l := full() // no name makes two columns, or a column go
	for name, want := range map[string]string{"": "-", " ": `\x20`, `- [a] "b" c`: `-\x20[a]\x20\x22b\x22\x20c`, " é": `\x20\xc3\xa9`} {
		l.User = []byte(name)
		f(l, `192.0.2.1 - `+want+` [04/Mar/2026:04:06:07 +0000] "GET /a?b=c&d=<e> HTTP/2.0" 200 5000000000 "https://example.com/" "curl/8.5.0"`)
	}
	f(&Line{Time: time.Unix(0, 0), Protocol: "HTTP/2.0"}, `- - - [01/Jan/1970:00:00:00 +0000] "- - HTTP/2.0" 0 0 "-" "-"`)
}

// The protocol of such a request was written as HTTP/1.1. The wanted lines are those of nginx 1.22.
func TestCombinedInventedTheProtocolOfARequestWithoutOne(t *testing.T) {
	for want, line := range map[string]Line{
		"-":            {},
		"GET":          {Method: []byte("GET")},
		"GET /abc":     {Method: []byte("GET"), Target: []byte("/abc")},
		`\x16\x03\x01`: {Target: []byte("\x16\x03\x01")}, // the beginning of TLS
	} {
		line.Time, line.Status, line.Bytes = time.Unix(0, 0), 400, 12
		want := `- - - [01/Jan/1970:00:00:00 +0000] "` + want + `" 400 12 "-" "-"` + "\n"
		if diff := cmp.Diff(want, as(Combined(), &line)); diff != "" {
			t.Errorf("line differs (-want +got):\n%s", diff)
		}
	}
}

func TestTemplateHasItsTextAndItsFields(t *testing.T) {
	f := func(template, want string) {
		t.Helper()
		if got := as(mustTemplate(t, template), full()); got != want+"\n" {
			t.Errorf("%s: got %q, want %q", template, got, want)
		}
	}
	f("{client} {status}", "192.0.2.1 200")
	f("{{{method}}} $x é {host}{target}", "{GET} $x é www.example.com/a?b=c&d=<e>")
	f(everything(), `"2026-03-04T04:06:07.123456Z" "www.example.com" "/a?b=c&d=<e>" "GET" "200" "5000000000" "held_back" "first-sighting" "default" `+
		`"1.5" "0.000001" "192.0.2.1" "https" "HTTP/2.0" "3" "-61" "curl/8.5.0" "https://example.com/" "r-1" `+
		`"4bf92f3577b34da6a3ce929d0e0e4736" "ann" "10.0.0.1:80" "0.0123" "0.1" "12.345678"`)
}

func TestTemplateThatIsNoneIsAnErrorThatSaysWhy(t *testing.T) {
	f := func(template, want string) {
		t.Helper()
		if _, err := Template(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", template, err, want)
		}
	}
	f("", "must be at least one field")
	f("text", "must be at least one field")
	f("{{client}}", "must be at least one field")
	f("{adress}", "unknown field {adress}, must be one of time, host, ")
	f("{}", "unknown field {}")
	f("{client", "two for a brace")
	f("{client} }", "two for a brace")
	f("{client}\n{host}", "without control characters")
}

// checkText: in a template whose fields stand in quotes no value leaves its own.
func checkText(t testing.TB, line *Line) {
	t.Helper()
	for name, format := range map[string]*Format{"combined": Combined(), "template": mustTemplate(t, everything())} {
		got := as(format, line)
		quotes, want := strings.Count(got, `"`), strings.Count(as(format, full()), `"`)
		if quotes != want || !strings.HasSuffix(got, "\n") {
			t.Errorf("%s: got %d quotes in %q, want %d", name, quotes, got, want)
		}
		for i, c := range []byte(got[:len(got)-1]) {
			if c < ' ' || c > '~' {
				t.Errorf("%s: got byte %#x at %d of %q, want printable ASCII", name, c, i, got)
			}
		}
	}
}

func TestHostileBytesOfEveryFieldAreEscaped(t *testing.T) {
	hostile := []byte("a\"b\\c\r\n\x00\x7f\xffé")
	line := full()
	line.Host, line.Target, line.Method, line.UserAgent, line.Referer, line.RequestID, line.User = hostile, hostile, hostile, hostile, hostile, hostile, hostile
	line.Client = line.Client.WithZone("")
	checkText(t, line)
	if got, want := as(mustTemplate(t, "{user_agent}"), line), `a\x22b\x5cc\x0d\x0a\x00\x7f\xff\xc3\xa9`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := bytes.Count([]byte(as(nil, line)), []byte("\n")); n != 1 {
		t.Errorf("JSON: got %d line feeds, want 1", n)
	}
}

// TestManualHasEveryField: the table of docs/operating/watch.md is that of Fields.
func TestManualHasEveryField(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operating/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| field | value |\n|---|---|\n")
	for _, f := range Fields() {
		want.WriteString("| `" + f.Name + "` | " + f.About + " |\n")
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("docs/operating/watch.md: want this table:\n%s", want.String())
	}
}

func TestTimesAndSecondsAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	for _, at := range []time.Time{
		{},
		time.Unix(0, 999), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(12345, 1, 2, 3, 4, 5, 6000, time.UTC),
		time.Date(2024, 2, 29, 0, 0, 0, 10000, time.FixedZone("", -3600)), time.Date(1999, 11, 10, 9, 8, 7, 120000000, time.UTC),
	} {
		if got, want := string(new(clock).appendTime(nil, at)), at.UTC().Format("2006-01-02T15:04:05.000000Z"); got != want {
			t.Errorf("time: got %s, want %s", got, want)
		}
	}
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := string(appendSeconds(nil, d)); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
	f(0, "0")
	f(499, "0")
	f(500, "0.000001")
	f(time.Millisecond, "0.001")
	f(61*time.Second+20*time.Microsecond, "61.00002")
	f(-1500*time.Millisecond, "-1.5")
	f(1000*time.Hour, "3600000")
	f(-499, "0")
	f(-500, "-0.000001")
	f(999_999_499, "0.999999")
	f(999_999_500, "1")
	f(math.MaxInt64, "9223372036.854776")
	f(math.MinInt64, "-9223372036.854776")
	for _, n := range []int64{math.MinInt64, -10, -1, 0, 1, 9, 10, 11, 99, 100, 101, 200, 404, 999, 1000, math.MaxInt64} {
		if got := string(appendInt(nil, n)); got != strconv.FormatInt(n, 10) {
			t.Errorf("%d: got %s", n, got)
		}
	}
}

// One clock writes all lines of a buffer, and keeps its last second.
func TestTheSecondOfALineIsItsOwn(t *testing.T) {
	c := new(clock)
	for _, nanos := range []int64{0, 999_999_999, 1_000_000_000, 500, -1, 0} {
		at := time.Unix(0, nanos)
		if got, want := string(c.appendTime(nil, at)), at.UTC().Format("2006-01-02T15:04:05.000000Z"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := string(c.appendCombined(nil, at)), at.UTC().Format("02/Jan/2006:15:04:05 -0700"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPlainBytesAreFoundWhereverTheyEnd(t *testing.T) {
	for c := range 256 {
		for n := range 24 * 24 {
			at, length := n/24, 1+n%24
			if at >= length {
				continue
			}
			s := bytes.Repeat([]byte("a~ !#[]^"), 3)[:length]
			want := len(s)
			if s[at] = byte(c); !plain[c] {
				want = at
			}
			if got := plainLen(s); got != want {
				t.Fatalf("%#x at %d of %d: got %d plain bytes, want %d", c, at, length, got, want)
			}
		}
	}
}
