package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"edgeproxy/internal/lab/figures"
)

// print writes both tables.
func (o options) print(w io.Writer, speed []*series, waits []*wait) error {
	if _, err := fmt.Fprintf(w, "%s, %s/%s, %d processors. %d generations, %v %% false positives when full.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), generations, windowRate*100); err != nil {
		return fmt.Errorf("print the tables: %w", err)
	}
	if err := o.speedTable(speed).Write(w); err != nil {
		return err
	}
	return waitTable(waits, o.sizes[len(o.sizes)-1]).Write(w)
}

// speedTable has nanoseconds and ratios, a column for each size and number of
// goroutines.
func (o options) speedTable(all []*series) *figures.Table {
	t := &figures.Table{Right: true, Text: fmt.Sprintf("Record and test, ns a sighting, medians of %d rounds of %d in turn (of twice as many where one was too slow);\nhalf of the keys new, half of the window:\n\n",
		o.rounds, o.sightings)}
	row := func(first, second string, cell func(keys, workers int) string) {
		cells := []string{first, second}
		for _, keys := range o.sizes {
			for _, workers := range o.workers {
				cells = append(cells, cell(keys, workers))
			}
		}
		t.Row(cells...)
	}
	row("filter", "bits/key", func(keys, workers int) string { return fmt.Sprintf("%s keys, %d", sizeText(keys), workers) })
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	for _, name := range names {
		row(name, fmt.Sprintf("%.1f", find(all, name, o.sizes[0], o.workers[0]).bits), func(keys, workers int) string {
			return fmt.Sprintf("%.1f", find(all, name, keys, workers).median())
		})
	}
	for _, p := range pairings() {
		row(p.production+": times as fast", "", func(keys, workers int) string {
			return fmt.Sprintf("%.2f", ratio(find(all, p.textbook, keys, workers), find(all, p.production, keys, workers)))
		})
	}
	return t
}

// waitTable has what a rotation costs.
func waitTable(all []*wait, keys int) *figures.Table {
	t := &figures.Table{Right: true, Text: fmt.Sprintf("\nRotations of full generations of %s keys, and single sightings beside them (the clock's own time included):\n\n", sizeText(keys))}
	t.Row("filter", "clearing", "p99.9 calm", "p99.9 rotating", "max calm", "max rotating")
	for _, w := range all {
		at := func(sorted []int64, q float64) time.Duration { return time.Duration(figures.Quantile(sorted, q)) }
		t.Rowf("%s\t%v\t%v\t%v\t%v\t%v", w.name, slices.Max(w.clearing).Round(10*time.Microsecond),
			at(w.calm, 0.999), at(w.rotating, 0.999), at(w.calm, 1), at(w.rotating, 1))
	}
	return t
}

// sizeText writes whole millions and thousands short.
func sizeText(keys int) string {
	switch {
	case keys%1_000_000 == 0:
		return fmt.Sprintf("%d M", keys/1_000_000)
	case keys%1000 == 0:
		return fmt.Sprintf("%d k", keys/1000)
	default:
		return strconv.Itoa(keys)
	}
}
