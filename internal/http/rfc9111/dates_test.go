package rfc9111

import (
	"testing"
	"time"
)

// RFC 9110 section 5.6.7.
func TestParseDateSuccess(t *testing.T) {
	f := func(s string, want time.Time) {
		t.Helper()
		if got, ok := ParseDate(s, received); !ok || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q: got %v %v, want %v", s, got, ok, want)
		}
		if got, ok := ParseDate([]byte(s), received); !ok || !got.Equal(want) {
			t.Errorf("bytes %q: got %v %v, want %v", s, got, ok, want)
		}
	}
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	f("Sun, 06 Nov 1994 08:49:37 GMT", want)
	f("Sunday, 06-Nov-94 08:49:37 GMT", want)
	f("Sun Nov  6 08:49:37 1994", want)
	f("Sun Nov 06 08:49:37 1994", want)

	// Any case; a wrong weekday; all months and weekdays.
	f("sUN, 06 nOV 1994 08:49:37 gMT", want)
	f("SUNDAY, 06-NOV-94 08:49:37 gmt", want)
	f("Thu, 06 Nov 1994 08:49:37 GMT", want)
	for i := range 366 {
		day := time.Date(2024, 1, 1, 23, 59, 59, 0, time.UTC).AddDate(0, 0, i)
		f(day.Format("Mon, 02 Jan 2006 15:04:05 GMT"), day)
		f(day.Format("Monday, 02-Jan-06 15:04:05 GMT"), day)
		f(day.Format("Mon Jan _2 15:04:05 2006"), day)
	}
	f("Sat, 31 Dec 2016 23:59:60 GMT", time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC))
	f("Tue, 29 Feb 2000 00:00:00 GMT", time.Date(2000, 2, 29, 0, 0, 0, 0, time.UTC))
	f("Fri, 31 Dec 9999 23:59:59 GMT", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
}

func TestParseDateFailure(t *testing.T) {
	f := func(s string) {
		t.Helper()
		if got, ok := ParseDate(s, received); ok || !got.IsZero() {
			t.Errorf("%q: got %v %v, want none", s, got, ok)
		}
	}
	f("")
	f("0")
	f("-1")
	f("Thu, 18 Aug 2050 02:01:18 UTC")
	f("Thu, 18 Aug 2050 02:01:18 AEST")
	f("Thu, 18 Aug 2050 02:01:18 +00")
	f("Thu, 18 Aug 2050 02:01:18")
	f("Thu, 18 Aug 50 02:01:18 GMT")
	f("Thu 18 Aug 2050 02:01:18 GMT")
	f("Thu, 18  Aug  2050 02:01:18 GMT")
	f("Thu,  8 Aug 2050 02:01:18 GMT")
	f("Thu, 8 Aug 2050 02:01:18 GMT")
	f("Thu, 18-Aug-2050 02:01:18 GMT")
	f("Thursday, 18-Aug-2050 02:01:18 GMT")
	f("Thu, 18-Aug-50 02:01:18 GMT")
	f("Thursday, 18 Aug 50 02:01:18 GMT")
	f("Thursday, 18 Aug 2050 02:01:18 GMT")
	f("Thu, 18 Aug 2050 02.01.18 GMT")
	f("Thu, 18 Aug 2050 2:01:18 GMT")
	f("Thu, 18 Aug 2050 02:01 GMT")
	f("Thu Aug 8 02:01:18 2050")
	f("Thu Aug  8 02:01:18 2050 GMT")
	f("Thu Aug   02:01:18 2050 ")
	f(" Thu, 18 Aug 2050 02:01:18 GMT")
	f("Thu, 18 Aug 2050 02:01:18 GMT ")
	f("Thu,\t18 Aug 2050 02:01:18 GMT")
	f("Xyz, 18 Aug 2050 02:01:18 GMT")
	f("Thu, 18 Xyz 2050 02:01:18 GMT")
	f("Thudday, 18-Aug-50 02:01:18 GMT")
	f("Friday, 06-Nov-94 08:49:37 GMTx")
	f("Friday, 06-Nov-94 08:49:37 GM")
	f("hu, 18 Aug 2050 02:01:18 GMTx")
	f("Thu, +8 Aug 2050 02:01:18 GMT")
	f("Thu, 18 Aug -050 02:01:18 GMT")
	// No such day, no such time.
	f("Thu, 00 Aug 2050 02:01:18 GMT")
	f("Thu, 32 Aug 2050 02:01:18 GMT")
	f("Thu, 31 Jun 2050 02:01:18 GMT")
	f("Thu, 29 Feb 2049 02:01:18 GMT")
	f("Thu, 18 Aug 2050 24:00:00 GMT")
	f("Thu, 18 Aug 2050 02:60:18 GMT")
	f("Thu, 18 Aug 2050 02:01:61 GMT")
	f("Monday, 29-Feb-27 02:01:18 GMT")
}

// RFC 9110 section 5.6.7: no more than 50 years in the future.
func TestTwoDigitYear(t *testing.T) {
	f := func(now, s string, want int) {
		t.Helper()
		at, err := time.Parse(time.DateTime, now)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ParseDate("Friday, "+s+" GMT", at); !ok || got.Year() != want {
			t.Errorf("%q in %s: got %v %v, want the year %d", s, now, got, ok, want)
		}
	}
	f("2026-11-20 12:00:00", "18-Aug-50 02:01:18", 2050)
	f("2026-11-20 12:00:00", "20-Nov-76 12:00:00", 2076)
	f("2026-11-20 12:00:00", "20-Nov-76 12:00:01", 1976)
	f("2026-11-20 12:00:00", "06-Nov-94 08:49:37", 1994)
	f("2026-11-20 12:00:00", "01-Jan-00 00:00:00", 2000)
	f("2026-11-20 12:00:00", "01-Jan-77 00:00:00", 1977)
	// Across the turn of a century, both ways.
	f("2080-01-01 00:00:00", "01-Jan-10 00:00:00", 2110)
	f("2080-01-01 00:00:00", "01-Jan-31 00:00:00", 2031)
	f("2080-01-01 00:00:00", "01-Jan-80 00:00:00", 2080)
	f("1999-12-31 23:59:59", "01-Jan-00 00:00:00", 2000)
	f("1999-12-31 23:59:59", "01-Jan-50 00:00:00", 1950)
}

// TestAUsualDateIsReadAsAnyOther: the fast path and the cursor agree on every date that the fast path accepts.
func TestAUsualDateIsReadAsAnyOther(t *testing.T) {
	usual := "Sun, 06 Nov 1994 08:49:37 GMT"
	if _, ok := fixdate(usual); !ok {
		t.Fatal("the usual form takes the long way")
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = ParseDate(usual, received) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	slowly := func(s string) (time.Time, bool) {
		c := dateCursor[string]{rest: s}
		if c.imfFixdate(); c.failed || len(c.rest) > 0 || !c.exists() {
			return time.Time{}, false
		}
		return c.time(), true
	}
	read := 0
	for i := range usual {
		for c := range 256 {
			s := usual[:i] + string([]byte{byte(c)}) + usual[i+1:]
			got, ok := fixdate(s)
			if !ok {
				continue
			}
			read++
			if want, valid := slowly(s); !valid || !got.Equal(want) {
				t.Errorf("%q: got %v, want %v %v", s, got, want, valid)
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d dates took the short way", read)
	}
	for day := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2002; day = day.AddDate(0, 0, 1) {
		s := day.Format(imfFixdate)
		if got, ok := fixdate(s); !ok || !got.Equal(day) {
			t.Errorf("%q: got %v %v", s, got, ok)
		}
	}
}
