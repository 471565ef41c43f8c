package trace

import (
	"bytes"
	"time"
)

// maxUnix is the start of 2262, in Unix seconds: in that year nanoseconds
// outgrow 63 bits.
const maxUnix = 9_214_646_400

// clock parses the times of one log. It keeps the last one: most lines have the same
// second as the line before. It is not safe for concurrent use.
type clock struct {
	text [40]byte
	len  int
	at   int64
	ok   bool
}

// read parses a time, and returns it in Unix microseconds. It accepts Apache's
// 01/Aug/1995:00:00:01 -0400, RFC 3339, and Unix seconds with or without a fraction.
// ok is false for other text, and for times before 1970 or after 2261.
func (c *clock) read(text []byte) (at int64, ok bool) {
	if len(text) == 0 || len(text) > len(c.text) {
		return 0, false
	}
	if string(text) != string(c.text[:c.len]) {
		c.len = copy(c.text[:], text)
		c.at, c.ok = parseTime(text)
	}
	return c.at, c.ok
}

func parseTime(s []byte) (at int64, ok bool) {
	switch {
	case len(s) == len(apacheShape) && s[2] == '/':
		return parseApache(s)
	case len(s) > 10 && s[4] == '-':
		var t time.Time
		if t.UnmarshalText(s) != nil { // RFC 3339, strictly
			return 0, false
		}
		return t.UnixMicro(), validUnix(t.Unix())
	}
	return parseUnix(s)
}

func validUnix(seconds int64) bool { return seconds >= 0 && seconds < maxUnix }

// apacheShape is strftime's %d/%b/%Y:%H:%M:%S %z: 0 is a digit, a a letter, and a
// plus either sign.
const apacheShape = "00/aaa/0000:00:00:00 +0000"

// parseApache reads a time with English months, as Apache and nginx write it.
func parseApache(s []byte) (at int64, ok bool) {
	for i := range s {
		if !hasShape(s[i], apacheShape[i]) {
			return 0, false
		}
	}
	two := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	day, month, year := two(0), monthOf(s[3:6]), two(7)*100+two(9)
	hour, minute, second, zoneHour, zoneMinute := two(12), two(15), two(18), two(22), two(24)
	if month == 0 || hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59 { // 60: a leap second
		return 0, false
	}
	zone := zoneHour*3600 + zoneMinute*60
	if s[21] == '-' {
		zone = -zone
	}
	t := time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
	if t.Day() != day { // there is no such day: Date returns one of the next month
		return 0, false
	}
	unix := t.Unix() + int64(second-zone)
	return unix * 1_000_000, validUnix(unix)
}

func hasShape(c, want byte) bool {
	switch want {
	case '0':
		return '0' <= c && c <= '9'
	case 'a':
		return 'a' <= c|0x20 && c|0x20 <= 'z'
	case '+':
		return c == '+' || c == '-'
	}
	return c == want
}

func monthOf(s []byte) time.Month {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for m := time.January; m <= time.December; m++ {
		if names[3*m-3:3*m] == string(s) {
			return m
		}
	}
	return 0
}

// parseUnix reads seconds with a fraction, to the microsecond.
func parseUnix(s []byte) (at int64, ok bool) {
	whole, fraction, _ := bytes.Cut(s, []byte("."))
	seconds, ok := parseCount(whole)
	if !ok || !validUnix(seconds) {
		return 0, false
	}
	unit := int64(100_000)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		at += int64(c-'0') * unit
		unit /= 10
	}
	return seconds*1_000_000 + at, true
}
