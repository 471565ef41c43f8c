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
// 01/Aug/1995:00:00:01 -0400, HAProxy's 01/Aug/1995:00:00:01.250, RFC 3339 and what databases and programs
// make of it, and Unix seconds with or without a fraction, or milliseconds, microseconds or nanoseconds. A time without a zone is one of UTC.
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
	case len(s) == len(apacheShape) && s[2] == '/' && s[20] == ' ':
		return parseApache(s)
	case len(s) > fractionAt && s[2] == '/' && s[fractionAt] == '.':
		return parseHAProxy(s)
	case len(s) > 10 && (s[4] == '-' || s[4] == '/'):
		return parseISO(s)
	}
	return parseUnix(s)
}

// isoSeconds is how much of a time by RFC 3339 is before the fraction.
const isoSeconds = len("2026-01-02T03:04:05")

// parseISO reads RFC 3339, also with slashes in the date, a blank in place of the T, a zone without its colon or its minutes, the word UTC,
// or without a zone.
func parseISO(s []byte) (at int64, ok bool) {
	const longest = 40
	if len(s) < isoSeconds || len(s) > longest {
		return 0, false
	}
	end := isoSeconds
	for end < len(s) && (s[end] == '.' && end == isoSeconds || '0' <= s[end] && s[end] <= '9') {
		end++
	}
	var text [longest + len("+00:00")]byte
	out := append(text[:0], s[:end]...)
	if out[4] == '/' && out[7] == '/' {
		out[4], out[7] = '-', '-'
	}
	if out[10] == ' ' {
		out[10] = 'T'
	}
	out = appendZone(out, bytes.TrimLeft(s[end:], " "))
	var t time.Time
	if t.UnmarshalText(out) != nil { // RFC 3339, strictly
		return 0, false
	}
	return t.UnixMicro(), validUnix(t.Unix())
}

// appendZone appends a zone as RFC 3339 has it; without one it is UTC.
func appendZone(dst, zone []byte) []byte {
	switch {
	case len(zone) == 0 || string(zone) == "UTC":
		return append(dst, 'Z')
	case len(zone) == len("+0000"):
		return append(append(append(dst, zone[:3]...), ':'), zone[3:]...)
	case len(zone) == len("+00"):
		return append(append(dst, zone...), ":00"...)
	}
	return append(dst, zone...)
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

// fractionAt is where the fraction of a second begins in a time of HAProxy.
const fractionAt = len("00/aaa/0000:00:00:00")

// parseHAProxy reads a time without a zone and with a fraction of a second.
func parseHAProxy(s []byte) (at int64, ok bool) {
	var text [len(apacheShape)]byte
	copy(text[copy(text[:], s[:fractionAt]):], " +0000")
	seconds, ok := parseApache(text[:])
	if !ok {
		return 0, false
	}
	fraction, ok := parseFraction(s[fractionAt+1:])
	return seconds + fraction, ok
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

// unixDigits is how many digits the seconds of a present time have, from 2001 to 2286.
const unixDigits = 10

// parseUnix reads seconds with a fraction, to the microsecond. More digits are milliseconds, microseconds or nanoseconds.
func parseUnix(s []byte) (at int64, ok bool) {
	whole, fraction, _ := bytes.Cut(s, []byte("."))
	var digits [unixDigits + 20]byte
	switch len(whole) {
	case unixDigits + 3, unixDigits + 6, unixDigits + 9:
		fraction = append(append(digits[:0], whole[unixDigits:]...), fraction...)
		whole = whole[:unixDigits]
	}
	seconds, ok := parseCount(whole)
	if !ok || !validUnix(seconds) {
		return 0, false
	}
	micros, ok := parseFraction(fraction)
	return seconds*1_000_000 + micros, ok
}

// parseFraction reads the digits behind the point of seconds, in microseconds.
func parseFraction(digits []byte) (micros int64, ok bool) {
	unit := int64(100_000)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		micros += int64(c-'0') * unit
		unit /= 10
	}
	return micros, true
}
