package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"edgeproxy/internal/lab/figures"
)

// table is what all evictions made of all workloads, in a cache of a share of the unique bytes, in percent.
type table struct {
	share, stage float64
	columns      []column
}

// figures returns the table: a row for each eviction, and after the workloads the means of the differences to the first one.
func (t *table) figures() figures.Table {
	f := figures.Table{Gap: 2, Text: fmt.Sprintf("Cache of %g %% of the unique bytes, stage of %g %% of it: hits %% / byte hits %%, writes, MB written; where objects expire also validations %%\n\n", t.share, t.stage)}
	head := []string{"eviction"}
	for _, c := range t.columns {
		head = append(head, c.workload)
	}
	f.Row(append(head, "hits", "byte hits", "writes", "bytes written", "user ns a request")...)
	for i, name := range evictions() {
		row := []string{string(name)}
		for _, c := range t.columns {
			row = append(row, c.outcomes[i].text())
		}
		f.Row(append(row, t.means(i)...)...)
	}
	return f
}

func (o outcome) text() string {
	out := fmt.Sprintf("%.1f / %.1f, %d, %.0f", percent(o.hits, o.requests), percent(o.hitBytes, o.requestBytes), o.writes, float64(o.writeBytes)/1e6)
	if o.validations > 0 {
		out += fmt.Sprintf(", %.1f", percent(o.validations, o.requests))
	}
	return out
}

// means sums up a row: differences in points, geometric means of ratios, and the CPU time of a request of all.
func (t *table) means(row int) []string {
	var hits, bytes, writes, written float64
	var cpu time.Duration
	requests := int64(0)
	n := float64(len(t.columns))
	for _, c := range t.columns {
		o, first := c.outcomes[row], c.outcomes[0]
		hits += (percent(o.hits, o.requests) - percent(first.hits, first.requests)) / n
		bytes += (percent(o.hitBytes, o.requestBytes) - percent(first.hitBytes, first.requestBytes)) / n
		writes += math.Log(float64(max(o.writes, 1))/float64(max(first.writes, 1))) / n
		written += math.Log(float64(max(o.writeBytes, 1))/float64(max(first.writeBytes, 1))) / n
		cpu, requests = cpu+o.cpu, requests+o.requests
	}
	return []string{
		fmt.Sprintf("%+.2f", hits), fmt.Sprintf("%+.2f", bytes), fmt.Sprintf("×%.2f", math.Exp(writes)), fmt.Sprintf("×%.2f", math.Exp(written)),
		strconv.FormatInt(cpu.Nanoseconds()/max(requests, 1), 10),
	}
}

func percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
