package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/policy"
)

// What a recommendation has to rest on. From 2,401 requests on a hit ratio is
// known to two points, 19 times in 20, and two points are what balanced tells
// settings apart by. A window that has turned over once has forgotten all of its
// first generations; the second time is what a longer log would look like. Of 100
// writes the number is known to a fifth.
const (
	leastRequests = 2500
	leastWindows  = 2
	leastWrites   = 100
)

// Evidence is what a recommendation has to rest on, for a reader.
const Evidence = "2,500 requests, and under always as under the setting 100 writes, with its window turned over twice"

// Unadvised is a capacity without a recommendation.
type Unadvised struct {
	CapacityBytes int64
	DiskBytes     int64  // 0: none
	Why           string // half a sentence
}

// windows returns how often the window of r has been replaced as a whole.
func (r *Result) windows() int64 {
	if !r.windowed || r.Generations == 0 { // never forgetting is nothing that edgeproxy does
		return 0
	}
	return r.rounds / int64(r.Generations)
}

// thin reports whether r has too little to rest a recommendation on, whatever the
// log has as a whole.
func (r *Result) thin() bool {
	return r.Writes < leastWrites || r.windowed && r.windows() < leastWindows
}

// missing says what the log lacks of the evidence for a recommendation at g's
// capacity, "" where nothing is.
func (r *Report) missing(g *Group) string {
	var lacks []string
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	if n := r.Trace.Requests; n < leastRequests {
		lack("%s of %s requests", humanize.Comma(n), humanize.Comma(leastRequests))
	}
	if n := g.Results[0].Writes; n < leastWrites {
		lack("%d of %d writes under always", n, leastWrites)
	}
	lacks = append(lacks, missingOfWindows(g.Results)...)
	if len(lacks) == 0 {
		return ""
	}
	return "too little to go by; there are " + strings.Join(lacks, ", ") + ". A longer log has more"
}

// missingOfWindows says what the settings with a window lack, nil where one of
// them lacks nothing or there is none.
func missingOfWindows(results []Result) []string {
	var asked []*Result
	for i := range results {
		if r := &results[i]; r.windowed {
			asked = append(asked, r)
		}
	}
	if len(asked) == 0 || slices.ContainsFunc(asked, func(r *Result) bool { return !r.Thin }) {
		return nil
	}
	most := func(of func(*Result) int64) (r *Result, n int64) {
		r = slices.MaxFunc(asked, func(a, b *Result) int { return int(of(a) - of(b)) })
		return r, of(r)
	}
	var lacks []string
	if r, n := most((*Result).windows); n < leastWindows {
		lacks = append(lacks, fmt.Sprintf("%d of %d windows turned over (%s)", n, leastWindows, r.describe()))
	}
	if r, n := most(func(r *Result) int64 { return r.Writes }); n < leastWrites {
		lacks = append(lacks, fmt.Sprintf("%d of %d writes under a policy with a window (%s)", n, leastWrites, r.describe()))
	}
	if len(lacks) == 0 {
		lacks = []string{fmt.Sprintf("no setting with both %d windows turned over and %d writes", leastWindows, leastWrites)}
	}
	return lacks
}

// unjudged says how many settings were left out for want of evidence, "" where
// none was.
func unjudged(results []Result) string {
	n := int64(0)
	for i := range results {
		if r := &results[i]; r.Thin && !r.unasked && r.Policy != policy.Never.String() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf(" %s %s not judged: fewer than %d windows turned over or %d writes.", counted(n, "setting"), verb, leastWindows, leastWrites)
}
