package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

// column is one column of the table; cell may use the line of always.
type column struct {
	name string
	cell func(r, always *result) string
}

var columns = [...]column{
	{"policy", func(r, _ *result) string { return r.name() }},
	{"requests", func(r, _ *result) string { return humanize.Comma(r.Requests) }},
	{"hits", func(r, _ *result) string { return percent(r.HitRatio) }},
	{"byte hits", func(r, _ *result) string { return percent(r.ByteHitRatio) }},
	{"writes", func(r, _ *result) string { return humanize.Comma(r.Writes) }},
	{"written", func(r, _ *result) string { return size(r.WriteBytes) }},
	{"avoided", func(r, always *result) string { return avoided(r.WritesAvoided, always.Writes, humanize.Comma) }},
	{"bytes avoided", func(r, always *result) string { return avoided(r.WriteBytesAvoided, always.WriteBytes, size) }},
	{"held back", func(r, _ *result) string { return humanize.Comma(r.HeldBack) }},
	{"evictions", func(r, _ *result) string { return humanize.Comma(r.Evictions) }},
	{"origin requests", func(r, _ *result) string { return humanize.Comma(r.OriginRequests) }},
	{"origin bytes", func(r, _ *result) string { return size(r.OriginBytes) }},
	{"p50", func(r, _ *result) string { return latency(r.P50Seconds) }},
	{"p99", func(r, _ *result) string { return latency(r.P99Seconds) }},
	{"late", func(r, _ *result) string { return humanize.Comma(r.LateSends) }},
	{"errors", func(r, _ *result) string { return humanize.Comma(r.Errors) }},
}

// writeTable writes the report for a reader: the trace, the settings, and a line
// for each policy.
func (d *document) writeTable(w io.Writer) error {
	var b bytes.Buffer
	t, r := &d.Trace, &d.Run
	fmt.Fprintf(&b, "trace     %s: %s requests for %s objects, %s of them asked for once; %s asked for, %s unique; %s bad lines, %s skipped, %s targets made up\n",
		d.name, humanize.Comma(t.Requests), humanize.Comma(t.Objects), percent(ratio(t.OneHitObjects, t.Objects)),
		size(t.RequestBytes), size(t.UniqueBytes),
		humanize.Comma(t.BadLines), humanize.Comma(r.SkippedLines), humanize.Comma(int64(r.MappedObjects)))
	fmt.Fprintf(&b, "settings  max_bytes %s (%s; %s), max_object_bytes %s (%s), %s requests/s, %d connections, seed %d\n\n",
		humanize.Comma(r.MaxBytes), size(r.MaxBytes), r.capacity, humanize.Comma(r.MaxObjectBytes), size(r.MaxObjectBytes),
		humanize.Commaf(r.Rate), r.Connections, r.Seed)
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	names := make([]string, 0, len(columns))
	for i := range columns {
		names = append(names, columns[i].name)
	}
	line(tw, names)
	for i := range d.Results {
		cells := names[:0]
		for j := range columns {
			cells = append(cells, columns[j].cell(&d.Results[i], &d.Results[0]))
		}
		line(tw, cells)
	}
	_ = tw.Flush() // into memory: cannot fail
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// line writes one line; the last cell ends with a tab too, or it would not be
// aligned.
func line(w io.Writer, cells []string) {
	_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\t\n") // into memory: cannot fail
}

func (r *result) name() string {
	if r.MoreThan > 0 {
		return fmt.Sprintf("%s >%d", r.Policy, r.MoreThan)
	}
	return r.Policy
}

func percent(ratio float64) string { return fmt.Sprintf("%.2f%%", 100*ratio) }

func size(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(uint64(-bytes))
	}
	return humanize.IBytes(uint64(bytes))
}

// avoided shows a saving with its share of what always has.
func avoided(n, always int64, show func(int64) string) string {
	if always == 0 {
		return show(n)
	}
	return fmt.Sprintf("%s (%.1f%%)", show(n), 100*float64(n)/float64(always))
}

func latency(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}
