package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"edgeproxy/internal/lab/figures"
)

// measureHits compares edgeproxy with the bare handler and prints the table: medians, and the range of the ratios as a measure of
// how calm the machine was. The error says which sizes cost too much, or why there is no table.
func (s *scene) measureHits(ctx context.Context, stdout io.Writer) error {
	program, err := s.start(ctx, edge{name: "edgeproxy"})
	if err != nil {
		return err
	}
	bare, err := s.startSelf(ctx, "bare handler", bareCommand)
	if err != nil {
		return err
	}
	var all []comparison
	t := figures.Table{Right: true, Text: fmt.Sprintf("Memory hits over loopback: CPU time per request, medians of %d rounds of %v in turn,\n%d connections, GOMAXPROCS=1.\n\n",
		s.o.rounds, s.o.roundTime, s.o.connections)}
	t.Row("size", "edgeproxy", "bare handler", "ratio", "from", "to")
	for _, size := range sizes() {
		c, err := s.assess(ctx, size, serverOf(program, hitMark), serverOf(bare, ""))
		if err != nil {
			return fmt.Errorf("%s: %w", sizeText(size), err)
		}
		ours, bares := c.medians()
		low, high := c.extremes()
		t.Rowf("%s\t%.2f µs\t%.2f µs\t%.2f\t%.2f\t%.2f", sizeText(size), ours, bares, c.ratio(), low, high)
		all = append(all, c)
	}
	if err := t.Write(stdout); err != nil {
		return err
	}
	return s.o.judge(all)
}

// judge names the sizes that are above the limit.
func (o options) judge(all []comparison) error {
	var errs []error
	for _, c := range all {
		if r := c.ratio(); r > o.maxRatio {
			errs = append(errs, fmt.Errorf("a hit of %s costs %.2f times the bare handler, must be at most %.2f", sizeText(c.size), r, o.maxRatio))
		}
	}
	return errors.Join(errs...)
}

// assess measures one size, and once more if it is above the limit. Then all the rounds
// decide, so that a busy moment of the machine does not.
func (s *scene) assess(ctx context.Context, size int, servers ...server) (comparison, error) {
	c := comparison{size: size}
	for range 2 {
		w, err := s.hits(ctx, size, servers)
		if err != nil {
			return c, err
		}
		m, err := s.o.measureWork(ctx, &w)
		if err != nil {
			return c, err
		}
		if c.pairs = append(c.pairs, m.against(1).pairs...); c.ratio() <= s.o.maxRatio {
			break
		}
	}
	return c, nil
}

// sizeText is a size in whole KiB.
func sizeText(size int) string { return fmt.Sprintf("%d KiB", size>>10) }
