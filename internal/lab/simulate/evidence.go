package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
)

// The evidence that a recommendation needs. From 2,401 requests on, a hit ratio is
// known to two points, 19 times in 20; balanced tells settings apart by two points.
// A window that has turned over once has forgotten all of its first generations. The
// second time shows what a longer log would do. A count of 100 writes is known to a fifth.
const (
	minRequests = 2500
	minWindows  = 2
	minWrites   = 100
)

// Evidence describes the evidence that a recommendation needs, for a reader.
const Evidence = "2,500 requests, and under always as under the setting 100 writes, with its window turned over twice"

// Unadvised is a capacity without a recommendation.
type Unadvised struct {
	CapacityBytes int64
	DiskBytes     int64  // 0: none
	Why           string // half a sentence
}

// windows returns how often the window of r has been replaced as a whole.
func (r *Result) windows() int64 {
	if !r.windowed || r.Generations == 0 { // sets that never forget have no generations
		return 0
	}
	return r.rotations / int64(r.Generations)
}

// lacksEvidence reports whether r has too few writes, or too few windows, to be recommended.
func (r *Result) lacksEvidence() bool {
	return r.Writes < minWrites || r.windowed && r.windows() < minWindows
}

// missing says what evidence the log lacks for a recommendation at g's capacity, "" if
// nothing is missing.
func (r *Report) missing(g *Group) string {
	var lacks []string
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	if n := r.Trace.Requests; n < minRequests {
		lack("%s of %s requests", humanize.Comma(n), humanize.Comma(minRequests))
	}
	if n := g.Results[0].Writes; n < minWrites {
		lack("%d of %d writes under always", n, minWrites)
	}
	lacks = append(lacks, missingOfWindows(g.Results)...)
	if len(lacks) == 0 {
		return ""
	}
	return "too little to go by; there are " + strings.Join(lacks, ", ") + ". A longer log has more"
}

// missingOfWindows says what evidence the settings with a window lack, nil if one of
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
	if r, n := most((*Result).windows); n < minWindows {
		lacks = append(lacks, fmt.Sprintf("%d of %d windows turned over (%s)", n, minWindows, r.describe()))
	}
	if r, n := most(func(r *Result) int64 { return r.Writes }); n < minWrites {
		lacks = append(lacks, fmt.Sprintf("%d of %d writes under a policy with a window (%s)", n, minWrites, r.describe()))
	}
	if len(lacks) == 0 {
		lacks = []string{fmt.Sprintf("no setting with both %d windows turned over and %d writes", minWindows, minWrites)}
	}
	return lacks
}

// withoutEvidence says how many settings were left out because they lack evidence, "" if
// none was.
func withoutEvidence(results []Result) string {
	n := int64(0)
	for i := range results {
		if r := &results[i]; r.Thin && !r.onlyBaseline && r.Policy != policy.Never.String() {
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
	return fmt.Sprintf(" %s %s not judged: fewer than %d windows turned over or %d writes.", counted(n, "setting"), verb, minWindows, minWrites)
}
