package rfc9111

import (
	"testing"
	"time"
)

// asks returns the directives of a request with this Cache-Control.
func asks(cacheControl string) RequestDirectives {
	var d RequestDirectives
	d.Add([]byte(cacheControl))
	return d
}

const minute = time.Minute

// RFC 9111 section 4.2.4, RFC 5861 section 3.
func TestUse(t *testing.T) {
	f := func(want Use, p Policy, age time.Duration) {
		t.Helper()
		// The client's directives count only where they are honoured.
		for _, cc := range []string{"", "no-cache", "max-age=0", "min-fresh=9999", "max-stale"} {
			if got := p.Use(age, asks(cc), false); got != want {
				t.Errorf("%+v at %v, request %q: got %q, want %q", p, age, cc, got, want)
			}
		}
		if got := p.Use(age, RequestDirectives{}, true); got != want {
			t.Errorf("%+v at %v, honoured: got %q, want %q", p, age, got, want)
		}
	}
	f(UseNow, Policy{Lifetime: minute}, 0)
	f(UseNow, Policy{Lifetime: minute}, minute-1)
	f(UseAfterValidation, Policy{Lifetime: minute}, minute)
	f(UseAfterValidation, Policy{}, 0)

	// no-cache, however fresh.
	f(UseAfterValidation, Policy{Lifetime: minute, Validate: true, WhileRevalidate: minute}, 0)

	// The window of stale-while-revalidate, and must-revalidate over it.
	f(UseNow, Policy{Lifetime: minute, WhileRevalidate: minute}, minute-1)
	f(UseNowAndRefresh, Policy{Lifetime: minute, WhileRevalidate: minute}, minute)
	f(UseNowAndRefresh, Policy{Lifetime: minute, WhileRevalidate: minute}, 2*minute)
	f(UseAfterValidation, Policy{Lifetime: minute, WhileRevalidate: minute}, 2*minute+1)
	f(UseNowAndRefresh, Policy{WhileRevalidate: minute}, 0)
	f(UseAfterValidation, Policy{Lifetime: minute, WhileRevalidate: minute, MustRevalidate: true}, minute)
	f(UseNow, Policy{Lifetime: minute, MustRevalidate: true}, minute-1)

	// The windows for errors are for errors.
	f(UseAfterValidation, Policy{Lifetime: minute, IfError: minute, OriginFailure: minute, Keep: minute}, minute)
}

// RFC 9111 section 5.2.1.
func TestUseHonoursTheRequest(t *testing.T) {
	f := func(want Use, p Policy, age time.Duration, cacheControl string) {
		t.Helper()
		if got := p.Use(age, asks(cacheControl), true); got != want {
			t.Errorf("%+v at %v, request %q: got %q, want %q", p, age, cacheControl, got, want)
		}
	}
	fresh := Policy{Lifetime: minute}
	f(UseAfterValidation, fresh, 0, "no-cache")
	f(UseAfterValidation, fresh, 0, "no-cache, max-stale")

	f(UseNow, fresh, 10*time.Second, "max-age=10")
	f(UseAfterValidation, fresh, 10*time.Second+1, "max-age=10")
	f(UseAfterValidation, fresh, 1, "max-age=0")
	f(UseAfterValidation, fresh, 1, "max-age=x")

	f(UseNow, fresh, 50*time.Second, "min-fresh=10")
	f(UseAfterValidation, fresh, 50*time.Second+1, "min-fresh=10")
	f(UseAfterValidation, fresh, 0, "min-fresh=61")
	f(UseAfterValidation, Policy{Lifetime: minute, WhileRevalidate: minute}, minute, "min-fresh=0, max-age=0")

	f(UseNow, fresh, minute+10*time.Second, "max-stale=10")
	f(UseAfterValidation, fresh, minute+10*time.Second+1, "max-stale=10")
	f(UseNow, fresh, time.Hour, "max-stale")
	f(UseAfterValidation, fresh, minute+1, "max-stale=x")
	f(UseAfterValidation, fresh, minute+1, "max-stale=100, max-age=50")
	f(UseNow, fresh, minute+1, "max-stale=100, max-age=70")
	f(UseAfterValidation, Policy{Lifetime: minute, MustRevalidate: true}, minute, "max-stale")
	f(UseAfterValidation, Policy{Lifetime: minute, Validate: true}, 0, "max-stale")

	// A client with max-age or max-stale gets no staler response.
	behind := Policy{Lifetime: minute, WhileRevalidate: minute}
	f(UseNowAndRefresh, behind, minute+10*time.Second, "max-stale=10")
	f(UseAfterValidation, behind, minute+10*time.Second+1, "max-stale=10")
	f(UseAfterValidation, behind, minute, "max-age=3600")

	// RFC 8246: a reload leaves what is immutable alone, a forced one does not, and
	// nothing is immutable when stale.
	immutable := Policy{Lifetime: minute, Immutable: true}
	f(UseNow, immutable, 30*time.Second, "max-age=0")
	f(UseAfterValidation, immutable, 30*time.Second, "no-cache")
	f(UseAfterValidation, immutable, minute, "max-age=0")
	f(UseAfterValidation, immutable, minute+1, "max-age=50, max-stale=100")
}

// RFC 9111 section 4.2.4, RFC 5861 section 4.
func TestMayServeStale(t *testing.T) {
	f := func(onFailure, onError bool, p Policy, late time.Duration) {
		t.Helper()
		age := p.Lifetime + late
		if got := p.MayServeStale(age, OriginFailure, RequestDirectives{}, true); got != onFailure {
			t.Errorf("%+v, %v late, no answer: got %v, want %v", p, late, got, onFailure)
		}
		if got := p.MayServeStale(age, ServerError, asks("no-cache"), false); got != onError {
			t.Errorf("%+v, %v late, server error: got %v, want %v", p, late, got, onError)
		}
	}
	f(false, false, Policy{Lifetime: minute}, 0)
	f(true, true, Policy{Lifetime: minute}, -1)
	f(true, false, Policy{Lifetime: minute, OriginFailure: minute}, 0)
	f(true, false, Policy{Lifetime: minute, OriginFailure: minute}, minute)
	f(false, false, Policy{Lifetime: minute, OriginFailure: minute}, minute+1)
	f(false, true, Policy{Lifetime: minute, IfError: minute}, minute)
	f(false, false, Policy{Lifetime: minute, IfError: minute}, minute+1)
	f(true, true, Policy{Lifetime: minute, WhileRevalidate: minute}, minute)
	f(false, false, Policy{Lifetime: minute, WhileRevalidate: minute}, minute+1)
	f(false, false, Policy{Lifetime: minute, WhileRevalidate: minute, MustRevalidate: true}, 1)
	f(false, false, Policy{Lifetime: minute, IfError: minute, OriginFailure: minute, MustRevalidate: true}, 1)
	f(false, false, Policy{Lifetime: minute, IfError: minute, OriginFailure: minute, Validate: true}, -1)
}

func TestMayServeStaleHonoursTheRequest(t *testing.T) {
	f := func(want bool, late time.Duration, cacheControl string) {
		t.Helper()
		p := Policy{Lifetime: minute, IfError: minute, OriginFailure: minute}
		for _, kind := range []Failure{OriginFailure, ServerError} {
			if got := p.MayServeStale(minute+late, kind, asks(cacheControl), true); got != want {
				t.Errorf("%v late, %q: got %v, want %v", late, cacheControl, got, want)
			}
		}
	}
	f(true, minute, "")
	f(false, minute, "no-cache")
	f(false, -1, "no-cache")
	f(false, -1, "max-age=1")
	f(false, 1, "max-age=3600")
	f(true, 10*time.Second, "max-stale=10")
	f(false, 10*time.Second+1, "max-stale=10")
	f(true, 2*minute, "stale-if-error=120")
	f(false, 2*minute+1, "stale-if-error=120")
	f(true, minute, "stale-if-error=1")
	f(false, minute+1, "stale-if-error=x")
}

func TestFailureOf(t *testing.T) {
	for status := range 1000 {
		want := status >= 500 && status < 600
		if kind, ok := FailureOf(status); ok != want || ok && kind != ServerError {
			t.Errorf("%d: got %v %v, want a server error %v", status, kind, ok, want)
		}
	}
}

func TestUseful(t *testing.T) {
	f := func(want bool, p Policy, age time.Duration) {
		t.Helper()
		if got := p.Useful(age); got != want {
			t.Errorf("%+v at %v: got %v, want %v", p, age, got, want)
		}
	}
	f(true, Policy{Lifetime: minute}, minute-1)
	f(false, Policy{Lifetime: minute}, minute)
	f(true, Policy{Lifetime: minute, Keep: minute}, 2*minute)
	f(false, Policy{Lifetime: minute, Keep: minute}, 2*minute+1)
	f(true, Policy{Keep: minute}, 0)
	f(false, Policy{}, 0)
	// No overflow at the longest spans.
	f(true, Policy{Lifetime: maxSpan, Keep: maxSpan}, maxSpan)
}

func TestUseHasWords(t *testing.T) {
	f := func(u Use, want string) {
		t.Helper()
		if got := u.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(UseAfterValidation, "after validation")
	f(UseNow, "now")
	f(UseNowAndRefresh, "now, and refresh")
	f(99, "unknown")
	if (Policy{Lifetime: 1}) == (Policy{Lifetime: 2}) {
		t.Error("two policies: got equal, want different")
	}
}
