package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/balance"
)

const wantStatuses = "must be a status of 200 to 599, or a range, such as 200-399"

// parseStatuses reads N or N-M. The error says what is wanted.
func parseStatuses(text string) (origin.Statuses, error) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	s := origin.Statuses{}
	for _, v := range []struct {
		dst  *int
		text string
	}{{&s.From, from}, {&s.To, to}} {
		n, err := strconv.Atoi(v.text)
		if err != nil || len(v.text) != 3 || n < 200 || n > 599 {
			return origin.Statuses{}, errors.New(wantStatuses)
		}
		*v.dst = n
	}
	if s.From > s.To {
		return origin.Statuses{}, errors.New(wantStatuses)
	}
	return s, nil
}

func ejectionTable(e *balance.Ejection) table {
	return table{
		live("failures", count(&e.Failures, 5).between(0, maxCount), "How many requests in a row without a connection eject a server; 0 is never."),
		live("failure_ratio", ratio(&e.Ratio, 0.5).between(0, 1).withError("must be 0.0 for never, to 1.0"),
			"The share of requests within window that failed after connecting and eject a server; 0.0 is never."),
		live("window", duration(&e.Window, 10*time.Second).between(time.Second, maxEjectionWindow), "How far back requests are counted."),
		live("min_requests", count(&e.Requests, 20).between(1, maxCount), "With fewer requests within window, failure_ratio ejects no server."),
		live("min_targets", count(&e.Targets, 5).between(1, maxTargets), "How many different paths must fail, so that one bad URL ejects no server."),
		live("backoff", duration(&e.Backoff, 10*time.Second).moreThan(0), "How long a server is ejected; doubled by each trial that gets no connection."),
		live("max_backoff", duration(&e.MaxBackoff, 5*time.Minute).atMost(maxBackoff), "The longest ejection; not below backoff."),
		live("all_ejected", either(&e.Refuse, false, "try", "refuse"),
			"While every server is out, try sends requests nevertheless; refuse answers 503 at once."),
	}
}

func healthTable(h *origin.Health) table {
	return table{
		live("path", textual(&h.Path, ""), `The path of the GET; "" is no checks.`).withExample("/health"),
		live("interval", duration(&h.Interval, 10*time.Second).atLeast(100*time.Millisecond), "The time between two checks of a server."),
		live("timeout", duration(&h.Timeout, 2*time.Second).moreThan(0), "The time for one check."),
		live("healthy", count(&h.Healthy, 2).between(1, maxCount), "Successful checks in a row that bring a server back."),
		live("unhealthy", count(&h.Unhealthy, 3).between(1, maxCount), "Failed checks in a row that take a server out."),
		live("status", statuses(&h.Status, origin.Statuses{From: 200, To: 399}),
			"The status of a successful check, such as 204 or 200-399."),
	}
}

// statuses is a status or a range of them.
func statuses(field *origin.Statuses, byDefault origin.Statuses) *scalar[origin.Statuses] {
	s := parsed(field, byDefault, "status or range of them", wantStatuses, parseStatuses, origin.Statuses.String)
	s.yaml = origin.Statuses.String // needs no quotes in YAML
	return s
}

// maxBackoff is the largest value of max_backoff.
const maxBackoff = 24 * time.Hour

// maxTargets bounds the work of a request that fails. maxEjectionWindow keeps the counts of a
// server recent.
const (
	maxTargets        = 100
	maxEjectionWindow = time.Hour
)

func (v *validator) ejection(path string, o *Origin) {
	e := &o.Ejection
	never := e.Failures == 0 && e.Ratio == 0 && o.Health.Path == ""
	if all := child(path, "all_ejected"); e.Refuse && never && v.noErrorAt(all) {
		v.fail(all, "needs failures or failure_ratio above 0, or health.path: without them no server is ever ejected")
	}
	backoff, most := child(path, "backoff"), child(path, "max_backoff")
	switch {
	case !v.noErrorAt(backoff, most):
	case e.MaxBackoff < e.Backoff && v.src.given(most):
		v.fail(most, "must be at least backoff, "+formatDuration(e.Backoff))
	case e.MaxBackoff < e.Backoff:
		v.fail(backoff, "must be at most max_backoff, "+formatDuration(e.MaxBackoff))
	}
}

func (v *validator) health(path string, h *origin.Health) {
	if !v.src.given(path) {
		return
	}
	target := child(path, "path")
	switch {
	case !v.noErrorAt(target):
	case !v.src.given(target):
		v.fail(target, missing(`the path to ask for, such as /health, or "" for no checks`))
	case h.Path != "" && (h.Path[0] != '/' || strings.ContainsFunc(h.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })):
		v.fail(target, "must be a path that begins with /, with %-encoding as in a URL")
	}
}
