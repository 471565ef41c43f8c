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
	LeastConnections Balance = "least_connections" // the fewest in use for its weight
)

// Ejection says when a server that fails gets no requests for a while.
type Ejection struct {
	Failures int // to connect, in a row; 0 is never

	FailureRatio float64       // of the requests within Window that broke behind the connection; 0 to 1, 0 is never
	Window       time.Duration // 1s or more
	MinRequests  int           // within Window; 1 or more
	MinTargets   int           // different ones that broke; 1 to 100

	Backoff    time.Duration // how long, doubled by each trial that finds no connection; above 0
	MaxBackoff time.Duration // at most; not below Backoff
	AllEjected AllEjected
}

// AllEjected is a value of all_ejected: what is done while every server is out.
type AllEjected string

// The values of AllEjected.
const (
	AllTried   AllEjected = "try"    // requests go to them as if none was
	AllRefused AllEjected = "refuse" // an answer of 503 at once, but for one trial at a time
)

// Health says how servers are asked whether they are well.
type Health struct {
	Path               string        // of a GET; "" is no checks
	Interval           time.Duration // between two checks of a server; 100ms or more
	Timeout            time.Duration // of one; above 0
	Healthy, Unhealthy int           // checks in a row that bring back or take out; 1 or more
	Status             Statuses      // of a good answer
}

// Statuses is a range of status codes.
type Statuses struct {
	From, To int // 200 to 599, From not above To
}

const wantStatuses = "want a final status or a range of them, such as 200 or 200-399"

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

func (d *decoder) ejection(e *Ejection) func(node) {
	return d.section(keys{
		"failures":      d.integer(&e.Failures),
		"failure_ratio": d.ratio(&e.FailureRatio),
		"window":        d.duration(&e.Window),
		"min_requests":  d.integer(&e.MinRequests),
		"min_targets":   d.integer(&e.MinTargets),
		"backoff":       d.duration(&e.Backoff),
		"max_backoff":   d.duration(&e.MaxBackoff),
		"all_ejected":   word(d, &e.AllEjected, []AllEjected{AllTried, AllRefused}),
	})
}

func (d *decoder) health(h *Health) func(node) {
	return d.section(keys{
		"path":      d.text(&h.Path),
		"interval":  d.duration(&h.Interval),
		"timeout":   d.duration(&h.Timeout),
		"healthy":   d.integer(&h.Healthy),
		"unhealthy": d.integer(&h.Unhealthy),
		"status":    converted(d, &h.Status, wantStatuses, parseStatuses),
	})
}

// maxBackoff is the longest time that a server may be ejected for at once.
const maxBackoff = 24 * time.Hour

// maxTargets keeps small what a request that breaks has to look through, maxEjectionWindow
// what is held of a server near to what it is.
const (
	maxTargets        = 100
	maxEjectionWindow = time.Hour
)

func (v *validator) ejection(path string, o *Origin) {
	e := &o.Ejection
	v.count(child(path, "failures"), e.Failures, 0, maxCount)
	v.breaks(path, e)
	never := e.Failures == 0 && e.FailureRatio == 0 && o.Health.Path == ""
	if all := child(path, "all_ejected"); e.AllEjected == AllRefused && never && v.sound(all) {
		v.fail(all, "want failures or failure_ratio above 0, or a health.path beside it: no server is ever out")
	}
	backoff, most := child(path, "backoff"), child(path, "max_backoff")
	v.positive(backoff, e.Backoff)
	switch {
	case !v.sound(backoff, most):
	case e.MaxBackoff > maxBackoff:
		v.fail(most, "want at most 24h")
	case e.MaxBackoff < e.Backoff && v.src.given(most):
		v.fail(most, "want at least backoff, "+formatDuration(e.Backoff))
	case e.MaxBackoff < e.Backoff:
		v.fail(backoff, "want at most max_backoff, "+formatDuration(e.MaxBackoff))
	}
}

// breaks checks when requests that break behind the connection eject a server.
func (v *validator) breaks(path string, e *Ejection) {
	if at := child(path, "failure_ratio"); (e.FailureRatio < 0 || e.FailureRatio > 1) && v.sound(at) {
		v.fail(at, "want 0.0 for never, to 1.0")
	}
	if at := child(path, "window"); (e.Window < time.Second || e.Window > maxEjectionWindow) && v.sound(at) {
		v.fail(at, "want 1s to 1h")
	}
	requests, targets := child(path, "min_requests"), child(path, "min_targets")
	v.count(requests, e.MinRequests, 1, maxCount)
	v.count(targets, e.MinTargets, 1, maxTargets)
}

func (v *validator) health(path string, h *Health) {
	if !v.src.given(path) {
		return
	}
	target := child(path, "path")
	switch {
	case !v.sound(target):
	case !v.src.given(target):
		v.fail(target, `missing, want the path to ask for, such as /health, or "" for no checks`)
	case h.Path != "" && (h.Path[0] != '/' || strings.ContainsFunc(h.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })):
		v.fail(target, "want a path that begins with /, with everything encoded that URLs want encoded")
	}
	if at := child(path, "interval"); h.Interval < 100*time.Millisecond && v.sound(at) {
		v.fail(at, "want at least 100ms")
	}
	v.positive(child(path, "timeout"), h.Timeout)
	v.count(child(path, "healthy"), h.Healthy, 1, maxCount)
	v.count(child(path, "unhealthy"), h.Unhealthy, 1, maxCount)
}
