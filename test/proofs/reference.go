package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// How far a filter may be from exact sets: the stores by its rate of those of
// always, the hit ratio by points.
const (
	filterRate   = 0.01
	filterPoints = 0.3
)

// proveReference compares simulate with another simulator, and its filters with
// exact sets.
func proveReference(ctx context.Context, s simulator) (*proof, error) {
	p := newProof("Exact LRU against another simulator, and filters against exact sets",
		"trace, capacity", "always", "second-hit, never forgets", "every 4 C requests", "the same, filters",
		"at C keys", "the same, filters", "more than 4, never forgets", "window auto, filters")
	p.notes = []string{
		"Hit ratio / byte hit ratio / stores.",
		"C of window auto is by the mean size of what is admitted, and 800 bytes more for each object; elsewhere it is by the mean size of all objects.",
		"Simulate makes no filter for fewer than 1,024 keys. C is below that on the NASA day and in the Apache log, so that their filters show next to none of their error.",
	}
	c := comparison{proof: p}
	for _, t := range traces() {
		if err := c.compare(ctx, s, t); err != nil {
			return nil, err
		}
	}
	p.claim("with exact sets every cell is what the other simulator found, to the last digit", c.same == c.cells,
		"%d of %d", c.same, c.cells)
	p.claim("with filters of 1 % the stores differ by at most 1 % of those of always", c.writes <= filterRate,
		"by %.2f %% at most", 100*c.writes)
	p.claim("with filters of 1 % the hit ratio is within 0.3 points", c.hits <= filterPoints, "within %.2f", c.hits)
	return p, nil
}

// comparison collects what the table shows.
type comparison struct {
	*proof
	cells, same  int
	writes, hits float64 // the largest differences of filters from sets: of the stores of always, and in points
}

// compare adds the rows of one trace.
func (c *comparison) compare(ctx context.Context, s simulator, t recorded) error {
	exact, err := s.run(ctx, t.file, "--exact", "--policy", "always,second-hit,counting", "--capacity", "1%,5%,20%",
		"--rotate-requests", "4c", "--rotate-keys", "never,1c")
	if err != nil {
		return err
	}
	filters, err := s.run(ctx, t.file, "--policy", "always,second-hit", "--capacity", "1%,5%,20%",
		"--rotate-requests", "4c", "--rotate-keys", "1c")
	if err != nil {
		return err
	}
	auto, err := s.run(ctx, t.file, "--policy", "second-hit", "--capacity", "1%,5%,20%", "--window", fitted)
	if err != nil {
		return err
	}
	c.ran(exact)
	c.ran(filters)
	c.ran(auto)
	for _, v := range t.rows {
		if err := c.addRow(t.name, v, exact, filters, auto); err != nil {
			return err
		}
	}
	return nil
}

// addRow compares one capacity.
func (c *comparison) addRow(name string, v values, exact, filters, auto *report) error {
	cells := []struct {
		setting
		want     reference
		filtered bool
	}{
		{setting{v.share, "always", "", 0}, v.always, false},
		{setting{v.share, "second-hit", never, 0}, v.unlimited, false},
		{setting{v.share, "second-hit", byRequests, 0}, v.requests, true},
		{setting{v.share, "second-hit", byKeys, 0}, v.keys, true},
		{setting{v.share, "counting", never, 0}, v.counting, false},
	}
	row := []string{fmt.Sprintf("%s, %d %%", name, v.share)}
	for _, cell := range cells {
		got, err := exact.find(cell.setting)
		if err != nil {
			return err
		}
		c.count(got, v.capacity, cell.want)
		row = append(row, got.text())
		if !cell.filtered {
			continue
		}
		with, err := filters.find(cell.setting)
		if err != nil {
			return err
		}
		c.measure(with, got, v.always)
		row = append(row, with.text())
	}
	got, err := auto.find(setting{v.share, "second-hit", fitted, 0})
	if err != nil {
		return err
	}
	c.row(append(row, got.text())...)
	return nil
}

// count notes whether a cell is what the other simulator printed.
func (c *comparison) count(got *result, capacity int64, want reference) {
	c.cells++
	if got.CapacityBytes == capacity && hundredths(got.HitRatio) == want.hits && hundredths(got.ByteHitRatio) == want.bytes &&
		got.Writes == want.writes {
		c.same++
	}
}

// measure notes how far a filter is from exact sets.
func (c *comparison) measure(filters, exact *result, always reference) {
	c.writes = max(c.writes, math.Abs(float64(filters.Writes-exact.Writes))/float64(always.writes))
	c.hits = max(c.hits, math.Abs(points(filters.HitRatio, exact.HitRatio)))
}

// hundredths rounds a ratio to percent with two digits.
func hundredths(ratio float64) float64 { return math.Round(ratio*10000) / 100 }

// text writes hit ratio, byte hit ratio and stores.
func (r *result) text() string {
	return fmt.Sprintf("%.2f / %.2f / %s", 100*r.HitRatio, 100*r.ByteHitRatio, humanize.Comma(r.Writes))
}
