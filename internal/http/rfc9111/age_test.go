package rfc9111

import (
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

// RFC 9111 section 4.2.3.
func TestInitialAge(t *testing.T) {
	f := func(want, delay time.Duration, lines ...string) {
		t.Helper()
		if got := InitialAge(head(t, lines...), received.Add(-delay), received); got != want {
			t.Errorf("%q after %v: got %v, want %v", lines, delay, got, want)
		}
	}
	f(0, 0)
	f(0, 0, "Date: "+at(0))
	f(30*time.Second, 0, "Age: 30")
	f(30*time.Second, 0, "Date: "+at(-30*time.Second))
	f(40*time.Second, 0, "Date: "+at(-30*time.Second), "Age: 40")
	f(30*time.Second, 0, "Date: "+at(-30*time.Second), "Age: 20")
	// The delay adds to Age, not to what Date shows.
	f(5*time.Second, 5*time.Second)
	f(35*time.Second, 5*time.Second, "Age: 30")
	f(30*time.Second, 5*time.Second, "Date: "+at(-30*time.Second))
	// A Date in the future, or none that can be read, shows nothing.
	f(0, 0, "Date: "+at(time.Hour))
	f(0, 0, "Date: now")
	f(0, 0, "Date: "+at(-time.Hour), "Date: "+at(-2*time.Hour))
	// A clock that went back during the exchange.
	f(30*time.Second, -time.Hour, "Age: 30")
	// No overflow.
	f(maxSpan, 1<<62, "Age: 99999999999")
	f(maxSpan, 0, "Date: Mon, 01 Jan 0001 00:00:00 GMT")
}

func TestResponseOfTheSameSecondHasNoAge(t *testing.T) {
	late := received.Add(999 * time.Millisecond)
	if got := InitialAge(head(t, "Date: "+at(0)), late, late); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
	late = received.Add(1001 * time.Millisecond)
	if got := InitialAge(head(t, "Date: "+at(0)), late, late); got != time.Second {
		t.Errorf("got %v, want 1s", got)
	}
}

// RFC 9111 section 5.1.
func TestAgeField(t *testing.T) {
	f := func(want time.Duration, values ...string) {
		t.Helper()
		var lines []string
		for _, v := range values {
			lines = append(lines, "Age: "+v)
		}
		if got := InitialAge(head(t, lines...), received, received); got != want {
			t.Errorf("%q: got %v, want %v", values, got, want)
		}
	}
	f(0)
	f(7200*time.Second, "7200")
	f(7200*time.Second, "007200")
	// The first member counts, over all lines; empty ones are none.
	f(7200*time.Second, "7200, 0")
	f(0, "0, 7200")
	f(7200*time.Second, "7200", "0")
	f(0, "0", "7200")
	f(7200*time.Second, "", " , 7200")
	f(0, "abc, 7200")
	f(0, "abc", "7200")
	// Parameters make it no younger.
	f(7200*time.Second, "7200;foo=bar")
	f(7200*time.Second, "7200 ; foo=111")
	// Digits only.
	f(0, "abc")
	f(0, "-7200")
	f(0, "+7200")
	f(0, "7200.0")
	f(0, "7200 0;foo=bar")
	f(0, ";foo=bar")
	f(0, `"7200"`)
	f(0, "72 00")
	f(0, "0x10")
	f(0, `7\200`)
	// Large ones count as 2^31.
	f(2147483647*time.Second, "2147483647")
	f(2147483648*time.Second, "2147483648")
	f(2147483648*time.Second, "2147483649")
	f(2147483648*time.Second, "99999999999999999999999")
}

func TestLargestAgeIsStaleUnderLargestLifetime(t *testing.T) {
	resp := response(t, 200, "Cache-Control: max-age=99999999999", "Age: 99999999999")
	if got := Judge(get, resp, Options{}).Why; got != reason.NoFreshness {
		t.Errorf("got %q, want %q", got, reason.NoFreshness)
	}
}

func TestCurrentAge(t *testing.T) {
	f := func(want, initial, since time.Duration) {
		t.Helper()
		if got := CurrentAge(initial, received, received.Add(since)); got != want {
			t.Errorf("%v, %v later: got %v, want %v", initial, since, got, want)
		}
	}
	f(0, 0, 0)
	f(90*time.Second, 30*time.Second, time.Minute)
	f(1500*time.Millisecond, time.Second, 500*time.Millisecond)
	f(30*time.Second, 30*time.Second, -time.Hour)
	f(time.Minute, -time.Hour, time.Minute)
	f(maxSpan, maxSpan, time.Hour)
	f(maxSpan, 1<<63-1, 1<<62)
}
