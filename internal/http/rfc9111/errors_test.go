package rfc9111

import (
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

// TestErrorsAreBounded: every 4xx and 5xx that a client may provoke is fresh for at most
// its limit, and neither kept nor used after that. Those that tell of the request are not
// stored unless the operator names them.
func TestErrorsAreBounded(t *testing.T) {
	o := edge
	o.BoundErrors, o.ErrorMaxTTL = true, 10*time.Second
	o.TTLByStatus = map[int]time.Duration{502: 20 * time.Second, 400: 20 * time.Second, 404: time.Minute, 503: 0}
	o.Stale = Stale{OriginFailure: time.Hour, IfError: time.Hour, WhileRevalidate: time.Hour, Keep: time.Hour}
	lines := []string{"Cache-Control: max-age=600, stale-while-revalidate=600, stale-if-error=600", `ETag: "a"`, "Age: 5"}
	for status := 200; status <= 599; status++ {
		j := Judge(get, response(t, status, lines...), o)
		bound := 10 * time.Second
		switch {
		case status == 404: // its bound is that of ttl_by_status
			if j.Why != reason.None || j.Policy.Lifetime != 65*time.Second || j.Policy.WhileRevalidate != time.Minute || j.Policy.OriginFailure != 10*time.Minute {
				t.Errorf("404: got %q and %+v, want it fresh for a minute, and stale as others", j.Why, j.Policy)
			}
			continue
		case status < 400, status == 410, status == 451:
			bound = 0
		case status == 502, status == 400:
			bound = 20 * time.Second
		case status == 503, describesRequest(status):
			if j.Why != reason.Status {
				t.Errorf("%d: got %q, want %q", status, j.Why, reason.Status)
			}
			continue
		}
		if refusesStatus(status) != reason.None {
			continue
		}
		want := 600 * time.Second
		if bound > 0 {
			want = 5*time.Second + bound // it has an age of 5 s when it comes
		}
		if j.Why != reason.None || j.Policy.Lifetime != want {
			t.Errorf("%d: got %q and a lifetime of %v, want stored with %v", status, j.Why, j.Policy.Lifetime, want)
		}
		if bound == 0 {
			continue
		}
		long := Delta{seconds: 3600, present: true, valid: true}
		impatient := RequestDirectives{MaxStale: long, StaleIfError: long}
		for _, kind := range []Failure{OriginFailure, ServerError} {
			if j.Policy.MayServeStale(want, kind, impatient, true) {
				t.Errorf("%d: got stale use after a failure, want none", status)
			}
		}
		if use := j.Policy.Use(want, impatient, true); use != UseAfterValidation || j.Policy.Useful(want) {
			t.Errorf("%d: got use %q, useful %v, want neither", status, use, j.Policy.Useful(want))
		}
	}
	if j := Judge(get, response(t, 503, lines...), Options{}); j.Policy.Lifetime != 600*time.Second {
		t.Errorf("without a bound: got %v, want the origin's 10m", j.Policy.Lifetime)
	}
	short := response(t, 500, "Cache-Control: max-age=3")
	if j := Judge(get, short, o); j.Policy.Lifetime != 3*time.Second {
		t.Errorf("a shorter lifetime: got %v, want 3s", j.Policy.Lifetime)
	}
}

func TestErrorsThatDescribeTheRequest(t *testing.T) {
	want := []int{
		400, 401, 403, 405, 406, 407, 408, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 501, 505,
	}
	var got []int
	for status := 200; status <= 599; status++ {
		if describesRequest(status) {
			got = append(got, status)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
