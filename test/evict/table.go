package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// table is what all evictions made of all workloads, in a cache of a share of the unique bytes, in percent.
type table struct {
	share, stage float64
	columns      []column
}

// text returns the table: a row for each eviction, and after the workloads the means of the differences to the first one.
func (t *table) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Cache of %g %% of the unique bytes, stage of %g %% of it: hits %% / byte hits %%, writes, MB written\n\n", t.share, t.stage)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "eviction")
	for _, c := range t.columns {
		fmt.Fprintf(w, "\t%s", c.workload)
	}
	fmt.Fprintln(w, "\thits\tbyte hits\twrites\tbytes written\tns a request")
	for i, name := range evictions() {
		fmt.Fprint(w, name)
		for _, c := range t.columns {
			fmt.Fprintf(w, "\t%s", c.outcomes[i].text())
		}
		fmt.Fprintln(w, "\t"+t.means(i))
	}
	_ = w.Flush() // into memory
	return b.String()
}

func (o outcome) text() string {
	return fmt.Sprintf("%.1f / %.1f, %d, %.0f", percent(o.hits, o.requests), percent(o.hitBytes, o.requestBytes), o.writes, float64(o.writeBytes)/1e6)
}

// means sums up a row: differences in points, geometric means of ratios, and the mean CPU time.
func (t *table) means(row int) string {
	var hits, bytes, writes, written, each float64
	n := float64(len(t.columns))
	for _, c := range t.columns {
		o, first := c.outcomes[row], c.outcomes[0]
		hits += (percent(o.hits, o.requests) - percent(first.hits, first.requests)) / n
		bytes += (percent(o.hitBytes, o.requestBytes) - percent(first.hitBytes, first.requestBytes)) / n
		writes += math.Log(float64(max(o.writes, 1))/float64(max(first.writes, 1))) / n
		written += math.Log(float64(max(o.writeBytes, 1))/float64(max(first.writeBytes, 1))) / n
		each += float64(o.each.Nanoseconds()) / n
	}
	return fmt.Sprintf("%+.2f\t%+.2f\t×%.2f\t×%.2f\t%.0f", hits, bytes, math.Exp(writes), math.Exp(written), each)
}

func percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
