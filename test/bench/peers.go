package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"edgeproxy/internal/lab/figures"
)

// measurePeers measures every work of the peers that are installed, and prints the table. Each
// round asks every contender in turn, each time another one first.
func (s *scene) measurePeers(ctx context.Context, stdout io.Writer) error {
	o := s.o
	f := &field{scene: s}
	if err := f.start(ctx); err != nil {
		return err
	}
	works := slices.DeleteFunc(f.works(), func(p preparation) bool { return !o.only.MatchString(p.name) })
	if len(works) == 0 && !o.only.MatchString(lateName) && !o.only.MatchString(besideName) {
		return fmt.Errorf("--only %s: no work of peers is called so", o.only)
	}
	if len(works) > 0 {
		if err := o.measureWorks(ctx, works, stdout); err != nil {
			return err
		}
	}
	if o.only.MatchString(lateName) {
		if err := f.measureLateness(ctx, stdout); err != nil {
			return fmt.Errorf("open loop: %w", err)
		}
	}
	if o.only.MatchString(besideName) {
		if err := f.measureBeside(ctx, stdout); err != nil {
			return fmt.Errorf("reads beside writes: %w", err)
		}
	}
	if len(f.absent) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "\nNot installed, so not compared: %s.\n", strings.Join(f.absent, ", "))
	return err
}

// measureWorks prints for each work and peer the medians, and the ratio with its
// interval. Below 1 edgeproxy is the cheaper one.
func (o options) measureWorks(ctx context.Context, works []preparation, stdout io.Writer) error {
	t := peerTable(fmt.Sprintf("CPU time of edgeproxy and of its peers for one piece of work, over loopback: medians of %d rounds\nof %v in turn, %d connections, each program on one processor and its clients on another. Below 1 edgeproxy is the cheaper one.\n\n",
		o.rounds, o.roundTime, o.connections))
	for _, p := range works {
		w, err := p.prepare(ctx)
		if err != nil {
			return err
		}
		w.name = p.name
		m, err := o.measureWork(ctx, &w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		m.addTo(&t)
	}
	return t.Write(stdout)
}

func peerTable(text string) figures.Table {
	t := figures.Table{Text: text}
	t.Row("work", "edgeproxy", "peer", "peer's", "median ratio", "95 % interval")
	return t
}

// addTo adds one row for each peer.
func (m measured) addTo(t *figures.Table) {
	for n := 1; n < len(m.contenders); n++ {
		c := m.against(n)
		ours, peers := c.medians()
		low, high := c.interval()
		t.Rowf("%s\t%.1f µs\t%s\t%.1f µs\t%.2f\t%.2f to %.2f", m.name, ours, m.contenders[n].name, peers, c.ratio(), low, high)
	}
}
