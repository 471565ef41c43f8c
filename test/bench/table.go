package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// print writes the table: medians, and the range of the ratios as a measure of
// how calm the machine was.
func (o options) print(w io.Writer, all []comparison) error {
	_, err := fmt.Fprintf(w, "Memory hits over loopback: CPU time per request, medians of %d rounds of %v in turn,\n%d connections, GOMAXPROCS=1.\n\n",
		o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "size\tedgeproxy\tbare handler\tratio\tfrom\tto\t")
	for _, c := range all {
		low, high := c.extremes()
		fmt.Fprintf(t, "%s\t%.2f µs\t%.2f µs\t%.2f\t%.2f\t%.2f\t\n", sizeText(c.size),
			median(c.pairs, func(p pair) float64 { return p.edge }),
			median(c.pairs, func(p pair) float64 { return p.bare }),
			c.ratio(), low, high)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// extremes are the lowest and the highest ratio of a pair.
func (c comparison) extremes() (low, high float64) {
	low, high = c.pairs[0].edge/c.pairs[0].bare, c.pairs[0].edge/c.pairs[0].bare
	for _, p := range c.pairs[1:] {
		low, high = min(low, p.edge/p.bare), max(high, p.edge/p.bare)
	}
	return low, high
}

// sizeText is a size in whole KiB.
func sizeText(size int) string { return fmt.Sprintf("%d KiB", size>>10) }
