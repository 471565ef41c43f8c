package simulate

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/trace"
)

// Why a capacity has no recommendation.
const (
	whyNothing  = "of what was asked for, nothing makes up for its writes by hits"
	whySizeless = "nearly all objects have the size 0, so the sizes are not those of the responses"
)

// warn adds warnings that a reader should know before the figures.
func (r *Report) warn(notes trace.Notes) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	t := &r.Trace
	if unused := t.BadLines + t.Skipped; unused > t.Requests {
		say("%s of %s lines were not used (%s bad, %s skipped): only a GET or HEAD that was answered with 200 or 304 counts",
			humanize.Comma(unused), humanize.Comma(unused+t.Requests), humanize.Comma(t.BadLines), humanize.Comma(t.Skipped))
	}
	if n := notes.OddTimes; n > 0 {
		say("%s had a time over an hour before or 30 days after the lines around it: taken for that of the line before", counted(n, "line"))
	}
	if r.sizeless() {
		say("%s of %s objects have the size 0: another field may have the sizes (--fields bytes=NAME), or the format is another one (--format)",
			humanize.Comma(t.EmptyObjects), humanize.Comma(t.Storable()))
	}
	for _, name := range notes.Cut {
		say("%s is cut: its compressed data ends too early, and what it has was used", name)
	}
	for _, name := range notes.Trailing {
		say("%s goes on behind the end of its gzip data: the rest was left out", name)
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		// With a limit that was asked for, that is expected.
		if always := &g.Results[0]; g.limit == 0 && 2*always.TooLarge > always.OriginRequests {
			say("at %s, %s, more than half of what the origin sent was too large to be stored: objects up to %s are",
				sizes(g.CapacityBytes, g.DiskBytes), g.Eviction, size(g.largest()))
		}
	}
}

// sizeless reports whether so many objects have no size that the sizes are none: nine of ten.
func (r *Report) sizeless() bool {
	return r.Trace.EmptyObjects > 0 && 10*r.Trace.EmptyObjects >= 9*r.Trace.Storable()
}

// notice returns the warnings as sentences, for a page.
func (r *Report) notice() string {
	var b strings.Builder
	for _, warning := range r.Warnings {
		b.WriteString("\nWarning: " + warning + ".")
	}
	return b.String()
}
