package trace

import (
	"strings"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		at, ok := parseTime([]byte(text))
		got := ""
		if ok {
			got = time.UnixMicro(at).UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	f("01/Aug/1995:00:00:01 -0400", "1995-08-01T04:00:01Z")
	f("29/Feb/2024:23:59:60 +0530", "2024-02-29T18:30:00Z")
	f("31/Dec/2261:23:59:59 +0000", "2261-12-31T23:59:59Z")
	f("31/Dec/2261:23:59:59 -0001", "")
	f("29/Feb/2023:00:00:00 +0000", "")
	f("00/Jan/2023:00:00:00 +0000", "")
	f("01/Foo/2023:00:00:00 +0000", "")
	f("01/jan/2023:00:00:00 +0000", "")
	f("01/Jan/2023:24:00:00 +0000", "")
	f("01/Jan/2023:00:60:00 +0000", "")
	f("01/Jan/2023:00:00:61 +0000", "")
	f("01/Jan/2023:00:00:00 +2400", "")
	f("01/Jan/2023:00:00:00 +0060", "")
	f("01/Jan/2023:00:00:00 *0000", "")
	f("01/Jan/2023 00:00:00 +0000", "")
	f("01/Jan/1969:00:00:00 +0000", "")
	f("2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000006Z")
	f("2026-01-02T03:04:05.9999999+02:00", "2026-01-02T01:04:05.999999Z")
	f("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z")
	f("1969-12-31T23:59:59.9Z", "")
	f("2262-01-01T00:00:00Z", "")
	f("2026-01-02 03:04:05", "2026-01-02T03:04:05Z")
	f("2026/01/02 03:04:05.25", "2026-01-02T03:04:05.25Z")
	f("2026-01-02 03:04:05.25 UTC", "2026-01-02T03:04:05.25Z")
	f("2026-01-02T03:04:05+0200", "2026-01-02T01:04:05Z")
	f("2026-01-02 03:04:05.5+02", "2026-01-02T01:04:05.5Z")
	f("2026-01-02 03:04:05 CET", "")
	f("2026-01-02 03:04", "")
	f("2026-01-02T03:04:05Z and more", "")
	f("2026-13-02 03:04:05", "")
	f("0", "1970-01-01T00:00:00Z")
	f("807256800", "1995-08-01T06:00:00Z")
	f("1700000000.5", "2023-11-14T22:13:20.5Z")
	f("1700000000.1234567890", "2023-11-14T22:13:20.123456Z")
	f("9214646399", "2261-12-31T23:59:59Z")
	f("9214646400", "")
	f("1700000000250", "2023-11-14T22:13:20.25Z") // milliseconds
	f("1700000000250.5", "2023-11-14T22:13:20.2505Z")
	f("1700000000123456", "2023-11-14T22:13:20.123456Z")    // microseconds
	f("1700000000123456789", "2023-11-14T22:13:20.123456Z") // nanoseconds
	f("170000000012345678", "")
	f("99999999991", "")
	f("06/Feb/2009:12:14:14.655", "2009-02-06T12:14:14.655Z")
	f("06/Feb/2009:12:14:14.655123", "2009-02-06T12:14:14.655123Z")
	f("06/Feb/2009:12:14:14", "")
	f("06/Feb/2009:12:14:14.6x", "")
	f("31/Feb/2009:12:14:14.655", "")
	f("-1", "")
	f("1e9", "")
	f("1.x", "")
	f(".5", "")
	f("-", "")
}

func TestClockRemembersTheRightTime(t *testing.T) {
	var c clock
	f := func(text string, want int64, ok bool) {
		t.Helper()
		if at, got := c.read([]byte(text)); got != ok || ok && at != want {
			t.Errorf("%q: got %d, %v; want %d, %v", text, at, got, want, ok)
		}
	}
	f("", 0, false)
	f("5", 5e6, true)
	f("5", 5e6, true)
	f("50", 50e6, true)
	f("5", 5e6, true)
	f("x", 0, false)
	f("x", 0, false)
	f(strings.Repeat("0", 41), 0, false)
	f("", 0, false)
	f("5", 5e6, true)
}

// FuzzTimes holds the reader of Apache's form against time.Parse, which knows no
// leap second, but zones of 24 hours and of 60 minutes. What is refused must be
// what time.Format would not write so: Parse also takes an hour of one digit, more
// than one space, any case in the month, and fractions of a second.
func FuzzTimes(f *testing.F) {
	f.Add("01/Aug/1995:00:00:01 -0400")
	f.Add("31/Apr/2024:00:00:00 +0000")
	f.Add("01/Aug/1970:00:00:00 +2400")
	f.Add("01/Aug/1970:0:00:00  +0000") // an hour of one digit was held against the reader
	f.Add("2026-01-02T03:04:05Z")
	f.Add("1700000000.25")
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := parseTime([]byte(text))
		if ok && (at < 0 || at >= maxUnix*1_000_000) {
			t.Errorf("%q: got %d, out of range", text, at)
		}
		if len(text) != len(apacheShape) || text[2] != '/' || strings.Contains(text, ":60 ") {
			return
		}
		const layout = "02/Jan/2006:15:04:05 -0700"
		want, err := time.Parse(layout, text)
		known := err == nil && validUnix(want.Unix()) && text[22:24] != "24" && text[24:] != "60"
		if ok && (!known || at != want.UnixMicro()) {
			t.Errorf("%q: got %d, time.Parse says %v, %v", text, at, want, err)
		}
		if !ok && known && want.Format(layout) == text {
			t.Errorf("%q: refused, time.Parse says %v", text, want)
		}
	})
}
