package simulate

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/trace"
)

// minPeriod is the smallest number of requests or keys of a generation. A smaller
// window forgets keys before they are requested again.
const minPeriod = 100

// maxPeriod is the largest number of requests or keys of a generation: the largest
// capacity of a filter in edgeproxy.
const maxPeriod = 1_000_000_000

// Unit is the unit of the length of a generation.
type Unit uint8

// The units.
const (
	Never      Unit = iota // nothing is ever forgotten; with exact sets only
	ByTime                 // the time of the requests
	ByRequests             // all requests, hits too
	ByKeys                 // distinct keys
	Fitted                 // what fits the cache: the proxy's window: auto
)

// Rotation is when a filter forgets: how long each of its generations lasts.
type Rotation struct {
	Unit Unit

	// Every is the length by time, above 0. With Fitted it is the longest, and 0 is no limit.
	Every time.Duration

	// Count is the length by requests or by keys, above 0. It is raised to 100.
	Count int64

	// PerCached, if above 0, replaces Count: the length is a multiple of c, the number
	// of objects of mean size that the cache holds.
	PerCached float64

	raised, lowered bool // Count was less, or more
	unreached       bool // the log has less than Count
}

// at returns the rotation for a cache that holds c objects, in a log with these facts.
// Its Count is set and in range; the other fields are for the text only.
func (r Rotation) at(c int64, facts trace.Facts) Rotation {
	has := facts.Requests
	switch r.Unit {
	case ByKeys:
		has = facts.Objects
	case ByRequests:
	default:
		return r
	}
	if r.PerCached > 0 {
		r.Count = int64(math.Min(r.PerCached*float64(c), maxPeriod+1))
	}
	r.raised, r.lowered = r.Count < minPeriod, r.Count > maxPeriod
	r.Count = min(max(r.Count, minPeriod), maxPeriod)
	r.unreached = r.Count > has
	return r
}

// fitsItself reports whether the proxy chooses the length itself, for any cache and
// any traffic.
func (r Rotation) fitsItself() bool { return r.Unit == Fitted }

// label writes the rotation as it was asked for.
func (r Rotation) label() string {
	multiple := strconv.FormatFloat(r.PerCached, 'g', -1, 64) + "c "
	switch {
	case r.PerCached > 0 && r.Unit == ByKeys:
		return multiple + "keys"
	case r.PerCached > 0 && r.Unit == ByRequests:
		return multiple + "requests"
	default:
		return r.readable()
	}
}

// text writes a rotation that at returned, for a person or for a program.
func (r Rotation) text(number func(int64) string) string {
	switch r.Unit {
	case ByTime:
		return "every " + shortDuration(r.Every)
	case ByRequests:
		return "every " + number(r.Count) + " requests" + r.remarks()
	case ByKeys:
		return "at " + number(r.Count) + " keys" + r.remarks()
	case Fitted:
		if r.Every > 0 {
			return "auto, every " + shortDuration(r.Every) + " at the latest"
		}
		return "auto"
	default:
		return "never"
	}
}

// remarks says where Count comes from, and why it may have no effect.
func (r Rotation) remarks() string {
	var all []string
	for _, m := range []struct {
		there bool
		text  string
	}{
		{r.PerCached > 0, strconv.FormatFloat(r.PerCached, 'g', -1, 64) + "c"},
		{r.raised, "raised"},
		{r.lowered, "lowered"},
		{r.unreached, "never reached"},
	} {
		if m.there {
			all = append(all, m.text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// String writes a rotation that at returned, without separators in numbers.
func (r Rotation) String() string {
	return r.text(func(n int64) string { return strconv.FormatInt(n, 10) })
}

// readable is String with separators in numbers.
func (r Rotation) readable() string { return r.text(humanize.Comma) }

// shortDuration writes 30m, not 30m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if n := len(s); d >= time.Minute && s[n-3:] == "m0s" {
		s = s[:n-2]
	}
	if n := len(s); d >= time.Hour && s[n-3:] == "h0m" {
		s = s[:n-2]
	}
	return s
}
