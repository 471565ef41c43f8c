package edge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/proxy"
)

const (
	// Errors of the last minute are a problem above this share, if there were so many requests.
	problemErrorRatio = 0.01
	problemRequests   = 10
	// problemDays is the time left below which a certificate is a problem, in days. The screen of the command status warns before.
	problemDays = 7
	// problemsOfAKind bounds the problems of each kind.
	problemsOfAKind = 5
)

// Problem is something that is wrong now, and that an operator should see before all else.
type Problem struct {
	Kind    string             `json:"kind"`    // errors, origin, disk or certificate
	What    string             `json:"what"`    // what is wrong, with the numbers that matter
	Numbers map[string]float64 `json:"numbers"` // the same numbers by name, for programs
	Where   string             `json:"where"`   // where, and why as far as it is known
}

// ProblemLimits are the limits beyond which something is a problem.
type ProblemLimits struct {
	ErrorRatio float64 `json:"error_ratio"` // errors of the last minute are one above it,
	Requests   int64   `json:"requests"`    // if there were so many requests
	DaysLeft   int64   `json:"days_left"`   // a certificate with fewer is one
}

// problemLimits returns those in force.
func problemLimits() ProblemLimits {
	return ProblemLimits{ErrorRatio: problemErrorRatio, Requests: problemRequests, DaysLeft: problemDays}
}

// String returns what is wrong and where, on one line.
func (p *Problem) String() string {
	return strings.ReplaceAll(p.What+": "+p.Where, "\n", " ")
}

// problems returns what is wrong by s, which has everything else: the worst first. It returns an empty list if nothing is.
func (s *Status) problems() []Problem {
	all := []Problem{}
	for _, kind := range []func() []Problem{s.errorProblems, s.originProblems, s.diskProblems, s.certificateProblems} {
		found := kind()
		all = append(all, found[:min(len(found), problemsOfAKind)]...)
	}
	return all
}

// errorProblems returns that requests fail: all of them, or those of routes whose errors are few among all.
func (s *Status) errorProblems() (found []Problem) {
	if failing(&s.Requests.Totals.Lately) {
		where, count := s.causes()
		if 2*count < s.Requests.Totals.Lately.Errors { // most have another cause
			where = s.worstRoute()
		}
		return []Problem{s.errorProblem("requests", &s.Requests.Totals.Lately, where)}
	}
	for i := range s.Requests.Routes {
		if r := &s.Requests.Routes[i]; failing(&r.Lately) {
			found = append(found, s.errorProblem("its requests", &r.Lately, "route "+r.Route))
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int { return cmp.Compare(b.Numbers["errors"], a.Numbers["errors"]) })
	return found
}

func failing(l *proxy.Lately) bool {
	return l.Requests >= problemRequests && l.ErrorRatio > problemErrorRatio
}

func (s *Status) errorProblem(of string, l *proxy.Lately, where string) Problem {
	span := "minute"
	if s.Lately < 60 {
		span = fmt.Sprintf("%.0f s", math.Ceil(s.Lately))
	}
	return Problem{
		Kind:    "errors",
		What:    fmt.Sprintf("%.1f %% of %s failed in the last %s", 100*l.ErrorRatio, of, span),
		Numbers: map[string]float64{"requests": float64(l.Requests), "errors": float64(l.Errors)}, Where: where,
	}
}

// refusing are the limits whose refusals are errors of the server; those of other limits are the client's.
func refusing() []string {
	return []string{"requests_in_flight", "origin_queue", "tunnels", "inflight_bytes", "password_checks"}
}

// causes returns the two that have failed most often in the last minute, of servers of origins and limits, and how often all have.
func (s *Status) causes() (texts string, count int64) {
	type cause struct {
		text  string
		count int64
	}
	var all []cause
	for i := range s.Origins {
		o := &s.Origins[i]
		if text, count := o.failures(); count > 0 {
			all = append(all, cause{"origin " + o.Name + ", " + text, count})
		}
	}
	for _, name := range refusing() {
		if n := s.Limits.Refused[name].Lately; n > 0 {
			all = append(all, cause{"limit " + name, n})
		}
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.count, a.count) })
	var two []string
	for i, c := range all {
		if count += c.count; i < 2 {
			two = append(two, c.text)
		}
	}
	return strings.Join(two, "; "), count
}

// failures returns how often servers of o have failed in the last minute, and in which way most often.
func (o *OriginStatus) failures() (text string, count int64) {
	var worst *ServerStatus
	var most int64
	failed := 0 // servers that have failed
	for i := range o.Servers {
		v := &o.Servers[i]
		n := v.ClassesLately["none"] + v.ClassesLately["5xx"]
		count += n
		if n > 0 {
			failed++
		}
		if n > most {
			worst, most = v, n
		}
	}
	if worst == nil {
		return "", 0
	}
	text = "status 5xx"
	if worst.ClassesLately["none"] >= worst.ClassesLately["5xx"] {
		text = cmp.Or(worst.LastFailure, "no answer")
	}
	if failed < len(o.Servers) {
		text = "server " + worst.Address + ", " + text
	}
	return text, count
}

// worstRoute returns the route with the most errors of the last minute.
func (s *Status) worstRoute() string {
	name, most := "requests without a route", int64(0)
	for i := range s.Requests.Routes {
		if r := &s.Requests.Routes[i]; r.Lately.Errors > most {
			name, most = "route "+r.Route, r.Lately.Errors
		}
	}
	return name
}

// isOut reports whether v is known to be out, or drained. One that is ejected, and whose trial is due, waits for a request: it may be well.
func (v *ServerStatus) isOut() bool {
	return v.State == balance.Drained.String() || v.State == balance.Down.String() || v.State == balance.Ejected.String() && v.EjectedFor > 0
}

// originProblems returns the origins none of whose servers is up.
func (s *Status) originProblems() (found []Problem) {
	for i := range s.Origins {
		o := &s.Origins[i]
		if slices.ContainsFunc(o.Servers, func(v ServerStatus) bool { return !v.isOut() }) {
			continue
		}
		where := "origin " + o.Name
		if len(o.Servers) > 0 && !slices.ContainsFunc(o.Servers, func(v ServerStatus) bool { return v.State != balance.Drained.String() }) {
			where += ", all drained"
		}
		if i := slices.IndexFunc(o.Servers, func(v ServerStatus) bool { return v.LastFailure != "" && v.ClassesLately["none"] > 0 }); i >= 0 {
			where += ", " + o.Servers[i].LastFailure
		}
		found = append(found, Problem{
			Kind:    "origin",
			What:    fmt.Sprintf("0 of %d servers are up", len(o.Servers)),
			Numbers: map[string]float64{"servers": float64(len(o.Servers)), "up": 0}, Where: where,
		})
	}
	return found
}

// diskProblems returns the directories of the disk tier that are not in use, or that the tier as a whole is not.
func (s *Status) diskProblems() (found []Problem) {
	d := s.Cache.Disk
	if d == nil {
		return nil
	}
	for _, one := range d.Directories {
		if one.Trouble != "" {
			found = append(found, Problem{What: "a disk is off", Where: one.Path + ": " + one.Trouble})
		}
	}
	if len(found) == 0 && d.Trouble != "" {
		found = append(found, Problem{What: "the disk tier is off", Where: strings.TrimPrefix(d.Trouble, outOfUse)})
	}
	for i := range found {
		found[i].Kind, found[i].Numbers = "disk", map[string]float64{"directories": float64(len(d.Directories)), "off": float64(len(found))}
	}
	return found
}

// certificateProblems returns the certificates that have expired or will do so soon.
func (s *Status) certificateProblems() (found []Problem) {
	for i := range s.Certificates {
		c := &s.Certificates[i]
		if c.DaysLeft == nil || *c.DaysLeft >= problemDays {
			continue
		}
		what := fmt.Sprintf("a certificate expires in %d days", *c.DaysLeft)
		switch {
		case *c.DaysLeft < 0:
			what = "a certificate has expired"
		case *c.DaysLeft == 0:
			what = "a certificate expires within a day"
		case *c.DaysLeft == 1:
			what = "a certificate expires in a day"
		}
		found = append(found, Problem{
			Kind: "certificate", What: what, Numbers: map[string]float64{"days_left": float64(*c.DaysLeft)},
			Where: cmp.Or(strings.Join(c.Names[:min(len(c.Names), 2)], ", "), c.File, "no name"),
		})
	}
	return found
}
