package edgetest

import (
	"testing"
	"time"
)

// A problem shows at once, and is over a minute after the last error; the history has it for an hour.
func TestAProblemIsOverAMinuteAfterTheLastError(t *testing.T) {
	const steps = "config\n  admission: {policy: always}\norigin /good\n  Cache-Control: max-age=99999\norigin /bad 503\n  Cache-Control: no-store\nclient HEAD /good\n"
	slowWorld(t, steps, nil, func(t *testing.T, w *world) {
		t.Helper()
		ask := func(target string, times int) {
			for range times {
				_ = w.get(target, 1<<10, 0, 0)
			}
			time.Sleep(time.Second)
		}
		want := func(problems, errors int64, ratio float64) {
			t.Helper()
			s := w.edge.Status()
			lately := s.Requests.Totals.Lately
			if int64(len(s.Problems)) != problems || lately.Errors != errors || lately.HitRatio != ratio {
				t.Errorf("got problems %v, %d errors and a hit ratio of %v lately, want %d, %d and %v", s.Problems, lately.Errors, lately.HitRatio, problems, errors, ratio)
			}
		}
		ask("/good", 999)
		want(0, 0, 0.998)
		time.Sleep(2 * time.Minute)
		want(0, 0, 0)
		ask("/good", 40)
		ask("/bad", 10)
		want(1, 10, 0.8)
		if got := w.edge.Status().Problems[0]; got.String() != "20.0 % of requests failed in the last minute: origin app, status 5xx" {
			t.Errorf("got %q", got.String())
		}
		time.Sleep(57 * time.Second)
		want(1, 10, 0.8)
		time.Sleep(14 * time.Second)
		want(0, 0, 0)
		time.Sleep(50 * time.Minute)
		errors, hits := int32(0), int32(0)
		h := w.edge.History()
		for i, n := range h.Errors {
			errors += n
			hits += h.Results["hit"][i]
		}
		if errors != 10 || hits != 998+40 {
			t.Errorf("got %d errors and %d hits in the history, want 10 and 1038", errors, hits)
		}
		time.Sleep(10 * time.Minute)
		for _, n := range w.edge.History().Errors {
			if n != 0 {
				t.Errorf("got %d errors after more than an hour, want none", n)
			}
		}
	})
}

// A route that answers 503 by itself, and clients that want nothing but what is stored, made the page red.
func TestWhatWasMeantToFailWasAProblem(t *testing.T) {
	const steps = "config\n  routes:\n    - {name: closed, match: {path: /closed}, respond: {status: 503}}\n    - {name: default, origin: app}\norigin /good\n  Cache-Control: max-age=9\n" +
		"client GET /none -> 504 detail=only-if-cached\n  Cache-Control: only-if-cached\n"
	slowWorld(t, steps, nil, func(t *testing.T, w *world) {
		t.Helper()
		for range 20 {
			_ = w.get("/closed", 1<<10, 0, 0)
		}
		time.Sleep(time.Second)
		s := w.edge.Status()
		if lately := s.Requests.Totals.Lately; len(s.Problems) > 0 || lately.Errors != 0 || lately.Classes["5xx"] != 21 {
			t.Errorf("got problems %v and %d errors of %v, want none of 21 statuses 5xx", s.Problems, lately.Errors, lately.Classes)
		}
	})
}
