package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

const peerColumns = "work\tedgeproxy\tpeer\tpeer's\tmedian ratio\t95 % interval"

// printPeers writes the table: for each work and peer the medians, and the ratio with its
// interval. Below 1 edgeproxy is the cheaper one.
func (o options) printPeers(w io.Writer, all []measured) error {
	if len(all) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "CPU time of edgeproxy and of its peers for one piece of work, over loopback: medians of %d rounds\nof %v in turn, %d connections, each program on one processor and its clients on another. Below 1 edgeproxy is the cheaper one.\n\n",
		o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, peerColumns)
	for _, m := range all {
		m.rows(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// printAbsent names the peers that nothing was compared with.
func printAbsent(w io.Writer, absent []string) error {
	if len(absent) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\nNot installed, so not compared: %s.\n", strings.Join(absent, ", ")); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// rows writes one line for each peer.
func (m measured) rows(w io.Writer) {
	for n := 1; n < len(m.contenders); n++ {
		c := m.against(n)
		low, high := c.interval()
		fmt.Fprintf(w, "%s\t%.1f µs\t%s\t%.1f µs\t%.2f\t%.2f to %.2f\n", m.name,
			median(c.pairs, func(p pair) float64 { return p.edge }), m.contenders[n].name,
			median(c.pairs, func(p pair) float64 { return p.bare }), c.ratio(), low, high)
	}
}
