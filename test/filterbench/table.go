package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// print writes both tables.
func (o options) print(w io.Writer, speed []*series, waits []*wait) error {
	if _, err := fmt.Fprintf(w, "%s, %s/%s, %d processors. %d generations, %v %% false positives when full.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), generations, windowRate*100); err != nil {
		return fmt.Errorf("print the tables: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	o.printSpeed(t, speed)
	printWaits(t, waits, o.sizes[len(o.sizes)-1])
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the tables: %w", err)
	}
	return nil
}

// printSpeed writes nanoseconds and ratios, a column for each size and number of
// goroutines.
func (o options) printSpeed(t *tabwriter.Writer, all []*series) {
	fmt.Fprintf(t, "Record and test, ns a sighting, medians of %d rounds of %d in turn (of twice as many where one was too slow);\nhalf of the keys new, half of the window:\n\n",
		o.rounds, o.sightings)
	fmt.Fprint(t, "filter\tbits/key\t")
	for _, keys := range o.sizes {
		for _, workers := range o.workers {
			fmt.Fprintf(t, "%s keys, %d\t", sizeText(keys), workers)
		}
	}
	fmt.Fprintln(t)
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	for _, name := range names {
		row := func(s *series) string { return fmt.Sprintf("%.1f", s.median()) }
		fmt.Fprintf(t, "%s\t%.1f\t", name, find(all, name, o.sizes[0], o.workers[0]).bits)
		o.printRow(t, all, name, row)
	}
	for _, p := range pairings() {
		fmt.Fprintf(t, "%s: times as fast\t\t", p.production)
		o.printRow(t, all, p.production, func(s *series) string {
			return fmt.Sprintf("%.2f", ratio(find(all, p.textbook, s.keys, s.workers), s))
		})
	}
	fmt.Fprintln(t)
}

func (o options) printRow(t *tabwriter.Writer, all []*series, name string, cell func(*series) string) {
	for _, keys := range o.sizes {
		for _, workers := range o.workers {
			fmt.Fprintf(t, "%s\t", cell(find(all, name, keys, workers)))
		}
	}
	fmt.Fprintln(t)
}

// printWaits writes what a rotation costs.
func printWaits(t *tabwriter.Writer, all []*wait, keys int) {
	fmt.Fprintf(t, "Rotations of full generations of %s keys, and single sightings beside them (the clock's own time included):\n\n", sizeText(keys))
	fmt.Fprintln(t, "filter\tclearing\tp99.9 calm\tp99.9 rotating\tmax calm\tmax rotating\t")
	for _, w := range all {
		fmt.Fprintf(t, "%s\t%v\t%v\t%v\t%v\t%v\t\n", w.name, slices.Max(w.clearing).Round(10*time.Microsecond),
			quantile(w.calm, 0.999), quantile(w.rotating, 0.999), quantile(w.calm, 1), quantile(w.rotating, 1))
	}
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
