package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Balance is a value of balance: how the server of a request is chosen.
type Balance string

// The values of Balance.
const (
	RoundRobin       Balance = "round_robin"       // in turn, by weight
	LeastConnections Balance = "least_connections" // the fewest connections in use, relative to its weight
	BalanceHash      Balance = "hash"              // consistent hashing of the URL, by weight
)

// Ejection says when a server that fails gets no requests for a while.
type Ejection struct {
	Failures int // failures in a row to connect; 0 is never

	FailureRatio float64       // share of the requests within Window that failed after connecting; 0 is never
	Window       time.Duration // how far back requests are counted
	MinRequests  int           // within Window
	MinTargets   int           // different targets that failed

	Backoff    time.Duration // how long a server is ejected, doubled by each trial that cannot connect; above 0
	MaxBackoff time.Duration // the longest ejection; not below Backoff
	AllEjected AllEjected
}

// AllEjected is a value of all_ejected: what happens to requests while every server is ejected or unhealthy.
type AllEjected string

// The values of AllEjected.
const (
	AllTried   AllEjected = "try"    // they are sent as if no server was ejected
	AllRefused AllEjected = "refuse" // they get 503 at once, except one trial at a time
)

// Health is the settings of health checks.
type Health struct {
	Path               string        // the path of a GET; "" is no checks
	Interval           time.Duration // between two checks of a server
	Timeout            time.Duration // the time for one check; above 0
	Healthy, Unhealthy int           // checks in a row that bring a server back, or take it out
	Status             Statuses      // statuses of a successful check
}

// Statuses is a range of status codes.
type Statuses struct {
	From, To int // 200 to 599, From not above To
}

const wantStatuses = "must be a status of 200 to 599, or a range, such as 200-399"

// parseStatuses reads N or N-M. The error says what is wanted.
func parseStatuses(text string) (Statuses, error) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	s := Statuses{}
	for _, v := range []struct {
		dst  *int
		text string
	}{{&s.From, from}, {&s.To, to}} {
		n, err := strconv.Atoi(v.text)
		if err != nil || len(v.text) != 3 || n < 200 || n > 599 {
			return Statuses{}, errors.New(wantStatuses)
		}
		*v.dst = n
	}
	if s.From > s.To {
		return Statuses{}, errors.New(wantStatuses)
	}
	return s, nil
}

func (e *Ejection) table() table {
	return table{
		live("failures", count(&e.Failures, 5).between(0, maxCount), "How many requests in a row without a connection eject a server; 0 is never."),
		live("failure_ratio", ratio(&e.FailureRatio, 0.5).between(0, 1).withError("must be 0.0 for never, to 1.0"),
			"The share of requests within window that failed after connecting and eject a server; 0.0 is never."),
		live("window", duration(&e.Window, 10*time.Second).between(time.Second, maxEjectionWindow), "How far back requests are counted."),
		live("min_requests", count(&e.MinRequests, 20).between(1, maxCount), "With fewer requests within window, failure_ratio ejects no server."),
		live("min_targets", count(&e.MinTargets, 5).between(1, maxTargets), "How many different paths must fail, so that one bad URL ejects no server."),
		live("backoff", duration(&e.Backoff, 10*time.Second).moreThan(0), "How long a server is ejected; doubled by each trial that gets no connection."),
		live("max_backoff", duration(&e.MaxBackoff, 5*time.Minute).atMost(maxBackoff), "The longest ejection; not below backoff."),
		live("all_ejected", enum(&e.AllEjected, AllTried, AllTried, AllRefused),
			"While every server is out, try sends requests nevertheless; refuse answers 503 at once."),
	}
}

func (h *Health) table() table {
	return table{
		live("path", textual(&h.Path, ""), `The path of the GET; "" is no checks.`).withExample("/health"),
		live("interval", duration(&h.Interval, 10*time.Second).atLeast(100*time.Millisecond), "The time between two checks of a server."),
		live("timeout", duration(&h.Timeout, 2*time.Second).moreThan(0), "The time for one check."),
		live("healthy", count(&h.Healthy, 2).between(1, maxCount), "Successful checks in a row that bring a server back."),
		live("unhealthy", count(&h.Unhealthy, 3).between(1, maxCount), "Failed checks in a row that take a server out."),
		live("status", statuses(&h.Status, Statuses{200, 399}),
			"The status of a successful check, such as 204 or 200-399."),
	}
}

// statuses is a status or a range of them.
func statuses(field *Statuses, byDefault Statuses) *scalar[Statuses] {
	s := parsed(field, byDefault, "status or range of them", wantStatuses, parseStatuses, Statuses.String)
	s.yaml = Statuses.String // needs no quotes in YAML
	return s
}

// String returns N or N-M.
func (s Statuses) String() string {
	if s.From == s.To {
		return strconv.Itoa(s.From)
	}
	return strconv.Itoa(s.From) + "-" + strconv.Itoa(s.To)
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
	never := e.Failures == 0 && e.FailureRatio == 0 && o.Health.Path == ""
	if all := child(path, "all_ejected"); e.AllEjected == AllRefused && never && v.noErrorAt(all) {
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

func (v *validator) health(path string, h *Health) {
	if !v.src.given(path) {
		return
	}
	target := child(path, "path")
	switch {
	case !v.noErrorAt(target):
	case !v.src.given(target):
		v.fail(target, `missing, needs the path to ask for, such as /health, or "" for no checks`)
	case h.Path != "" && (h.Path[0] != '/' || strings.ContainsFunc(h.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })):
		v.fail(target, "must be a path that begins with /, with %-encoding as in a URL")
	}
}
