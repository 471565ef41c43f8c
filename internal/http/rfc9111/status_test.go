package rfc9111

import (
	"slices"
	"testing"

	"edgeproxy/internal/http/reason"
)

// Any final status with a lifetime is storable, whatever it means.
func TestJudgeStatus(t *testing.T) {
	refused := map[int]reason.Reason{
		206: reason.Partial, 304: reason.NotModified, 412: reason.Status, 416: reason.Status,
		428: reason.Status, 429: reason.Status, 431: reason.Status, 511: reason.Status,
	}
	for status := range 1100 {
		want := refused[status]
		if status < 200 || status > 599 {
			want = reason.Status
		}
		if got := Judge(get, response(t, status, "Cache-Control: max-age=60"), edge).Why; got != want {
			t.Errorf("%d with max-age: got %q, want %q", status, got, want)
		}
	}
}

// RFC 9111 section 5.2.2.3.
func TestJudgeMustUnderstand(t *testing.T) {
	f := func(want reason.Reason, status int, cacheControl string) {
		t.Helper()
		got := Judge(get, response(t, status, "Cache-Control: max-age=60, "+cacheControl), edge).Why
		if got != want {
			t.Errorf("%d %q: got %q, want %q", status, cacheControl, got, want)
		}
	}
	for _, known := range []int{200, 204, 301, 308, 404, 410, 451, 503} {
		f(reason.None, known, "no-store, must-understand")
		f(reason.None, known, "must-understand")
		f(reason.NoStore, known, "no-store, must-understand=1")
		f(reason.Private, known, "no-store, must-understand, private")
	}
	for _, unknown := range []int{226, 299, 306, 399, 418, 425, 499, 506, 599} {
		f(reason.NoStore, unknown, "no-store, must-understand")
		f(reason.Status, unknown, "must-understand")
		f(reason.None, unknown, "public")
	}
	f(reason.Partial, 206, "no-store, must-understand")
}

// The operator's default is for what tells of a resource that is there, or has
// moved for good.
func TestDefaultTTLIsForFewStatuses(t *testing.T) {
	o := Options{DefaultTTL: minute}
	// What a status may be stored for, if it had a lifetime, lacks only that.
	byDefault := []int{204, 300, 404, 405, 410, 414, 501}
	for status := 200; status < 600; status++ {
		want := reason.Status
		switch {
		case slices.Contains([]int{200, 203, 301, 308}, status):
			want = reason.None
		case slices.Contains(byDefault, status):
			want = reason.NoFreshness
		case status == 206:
			want = reason.Partial
		case status == 304:
			want = reason.NotModified
		}
		j := Judge(get, response(t, status), o)
		if j.Why != want {
			t.Errorf("%d: got %q, want %q", status, j.Why, want)
		}
		if want == reason.None && (j.Policy.Lifetime != minute || j.Policy.Explicit) {
			t.Errorf("%d: got %+v, want the default", status, j.Policy)
		}
	}
}
