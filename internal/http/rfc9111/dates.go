package rfc9111

import (
	"strings"
	"time"
)

// ParseDate parses an HTTP date (RFC 9110 section 5.6.7). It accepts the three
// forms that a recipient must accept, and no other:
//
//	Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate
//	Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
//	Sun Nov  6 08:49:37 1994          asctime
//
// The case of names is ignored, and the weekday may be wrong for the date; the day
// must exist. Now determines the century of an RFC 850 date. The result is in UTC,
// in whole seconds. A leap second is read as the second after it. ParseDate does
// not allocate.
func ParseDate[T string | []byte](s T, now time.Time) (t time.Time, ok bool) {
	if t, ok := fixdate(s); ok {
		return t, true
	}
	c := dateCursor[T]{rest: s}
	switch len(s) {
	case len("Sun, 06 Nov 1994 08:49:37 GMT"):
		c.imfFixdate()
	case len("Sun Nov  6 08:49:37 1994"):
		c.asctime()
	default:
		c.rfc850()
		c.year = fullYear(&c.date, now)
	}
	if c.failed || len(c.rest) > 0 || !c.exists() {
		return time.Time{}, false
	}
	return c.time(), true
}

// fixdate is the fast path of ParseDate: it parses an IMF-fixdate with the usual upper and lower
// case. It reports false for anything else, also for dates that are valid in another spelling.
func fixdate[T text](s T) (t time.Time, ok bool) {
	if !shapedAsFixdate(s) {
		return t, false
	}
	d := date{
		year: 100*twoDigits(s[12], s[13]) + twoDigits(s[14], s[15]), month: monthNumber(string(s[8:11])), day: twoDigits(s[5], s[6]),
		hour: twoDigits(s[17], s[18]), minute: twoDigits(s[20], s[21]), second: twoDigits(s[23], s[24]),
	}
	// twoDigits returns a value above every limit if its bytes are no digits. Every month has at least 28 days.
	usual := d.year <= 9999 && d.month > 0 && d.day > 0 && d.hour < 24 && d.minute < 60 && d.second < 60
	if !usual || d.day > 28 && !d.exists() {
		return t, false
	}
	return d.time(), true
}

// shapedAsFixdate reports whether s is an IMF-fixdate apart from its numbers and its month,
// which are not checked.
func shapedAsFixdate[T text](s T) bool {
	if len(s) != len("Sun, 06 Nov 1994 08:49:37 GMT") || string(s[25:]) != " GMT" {
		return false
	}
	switch string(s[:5]) {
	case "Mon, ", "Tue, ", "Wed, ", "Thu, ", "Fri, ", "Sat, ", "Sun, ":
		return s[7] == ' ' && s[11] == ' ' && s[16] == ' ' && s[19] == ':' && s[22] == ':'
	}
	return false
}

// twoDigits returns the value of two digits, and a value far above 99 if one of them is no
// digit.
func twoDigits(tens, ones byte) int {
	tens, ones = tens-'0', ones-'0'
	if tens > 9 || ones > 9 {
		return 1 << 20
	}
	return 10*int(tens) + int(ones)
}

// monthNumber returns the number, 1 to 12, of the month with this name, 0 if there is none.
func monthNumber(name string) int {
	if i := strings.Index(months, name); len(name) == len("Jan") && i%len("Jan") == 0 {
		return i/len("Jan") + 1
	}
	return 0
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// date is a parsed date and time of day, not yet checked.
type date struct{ year, month, day, hour, minute, second int }

func (d *date) time() time.Time {
	return time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
}

// exists reports whether the calendar has the day and the clock the time; 60 is
// the leap second of the grammar.
func (d *date) exists() bool {
	noon := time.Date(d.year, time.Month(d.month), d.day, 12, 0, 0, 0, time.UTC)
	return noon.Day() == d.day && d.hour < 24 && d.minute < 60 && d.second <= 60
}

// fullYear returns the year of a date with two digits for it: the latest that
// does not put the date more than 50 years after now (RFC 9110 section 5.6.7).
func fullYear(d *date, now time.Time) int {
	limit := now.UTC().AddDate(50, 0, 0)
	full := *d
	full.year += limit.Year() - limit.Year()%100
	if full.time().After(limit) {
		full.year -= 100
	}
	return full.year
}

// dateCursor parses a date from left to right. After a failure its methods have no
// effect, so the caller checks failed only at the end.
type dateCursor[T text] struct {
	date
	rest   T
	failed bool
}

func (c *dateCursor[T]) imfFixdate() {
	c.weekday()
	c.literal(", ")
	c.day = c.number(2)
	c.literal(" ")
	c.month = c.monthName()
	c.literal(" ")
	c.year = c.number(4)
	c.literal(" ")
	c.clock()
	c.literal(" GMT")
}

func (c *dateCursor[T]) rfc850() {
	c.weekdayInFull()
	c.literal(", ")
	c.day = c.number(2)
	c.literal("-")
	c.month = c.monthName()
	c.literal("-")
	c.year = c.number(2)
	c.literal(" ")
	c.clock()
	c.literal(" GMT")
}

func (c *dateCursor[T]) asctime() {
	c.weekday()
	c.literal(" ")
	c.month = c.monthName()
	c.literal(" ")
	if len(c.rest) > 0 && c.rest[0] == ' ' {
		c.literal(" ")
		c.day = c.number(1)
	} else {
		c.day = c.number(2)
	}
	c.literal(" ")
	c.clock()
	c.literal(" ")
	c.year = c.number(4)
}

func (c *dateCursor[T]) clock() {
	c.hour = c.number(2)
	c.literal(":")
	c.minute = c.number(2)
	c.literal(":")
	c.second = c.number(2)
}

// take consumes and returns the next n bytes. If there are fewer, it sets failed and
// returns none.
func (c *dateCursor[T]) take(n int) T {
	if c.failed || len(c.rest) < n {
		c.failed = true
		return c.rest[:0]
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *dateCursor[T]) number(width int) int {
	n, ok := digits(c.take(width), 9999)
	c.failed = c.failed || !ok
	return int(n)
}

// literal consumes want, in upper or lower case.
func (c *dateCursor[T]) literal(want string) {
	got := c.take(len(want))
	for i := range len(got) {
		if lower(got[i]) != lower(want[i]) {
			c.failed = true
		}
	}
}

func (c *dateCursor[T]) weekday() {
	c.nameOf("sunmontuewedthufrisat")
}

// monthName returns the number of the month, 1 to 12.
func (c *dateCursor[T]) monthName() int {
	return c.nameOf("janfebmaraprmayjunjulaugsepoctnovdec")
}

// nameOf consumes a three-letter name and returns its number in names, from 1.
func (c *dateCursor[T]) nameOf(names string) int {
	name := c.take(3)
	for i := 0; i < len(names); i += 3 {
		if equalFold(name, names[i:i+3]) {
			return i/3 + 1
		}
	}
	c.failed = true
	return 0
}

func (c *dateCursor[T]) weekdayInFull() {
	name := c.take(index(c.rest, ','))
	for _, day := range [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"} {
		if equalFold(name, day) {
			return
		}
	}
	c.failed = true
}
