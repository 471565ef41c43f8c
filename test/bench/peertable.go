package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printPeers writes the table: for each work and peer the medians, and the ratio with its
// interval. Below 1 edgeproxy is the cheaper one.
func (o options) printPeers(w io.Writer, all []measured, absent []string) error {
	_, err := fmt.Fprintf(w, "CPU time of edgeproxy and of its peers for one piece of work, over loopback: medians of %d rounds\nof %v in turn, %d connections, one processor for each program. Below 1 edgeproxy is the cheaper one.\n\n",
		o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "work\tedgeproxy\tpeer\tpeer's\tmedian ratio\t95 % interval")
	for _, m := range all {
		for n := 1; n < len(m.contenders); n++ {
			c := m.against(n)
			low, high := c.interval()
			fmt.Fprintf(t, "%s\t%.1f µs\t%s\t%.1f µs\t%.2f\t%.2f to %.2f\n", m.name,
				median(c.pairs, func(p pair) float64 { return p.edge }), m.contenders[n].name,
				median(c.pairs, func(p pair) float64 { return p.bare }), c.ratio(), low, high)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if len(absent) > 0 {
		_, err = fmt.Fprintf(w, "\nNot installed, so not compared: %s.\n", strings.Join(absent, ", "))
	}
	return err
}
