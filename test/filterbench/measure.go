package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// measure runs everything and prints the tables. The error says which filter is
// too slow, or why there is no table.
func (o options) measure(ctx context.Context, stdout io.Writer) error {
	var speed []*series
	var waits []*wait
	for _, keys := range o.sizes {
		b, err := newBench(keys)
		if err != nil {
			return err
		}
		for _, workers := range o.workers {
			got, err := b.assess(ctx, o, workers)
			if err != nil {
				return err
			}
			speed = append(speed, got...)
		}
		if keys == o.sizes[len(o.sizes)-1] {
			waits = b.waits(ctx)
		}
	}
	if err := o.print(stdout, speed, waits); err != nil {
		return err
	}
	return judge(speed, o.minRatio)
}

// assess compares, and where something is too slow once more: then all the
// rounds decide, so that a busy moment of the machine does not.
func (b *bench) assess(ctx context.Context, o options, workers int) ([]*series, error) {
	got, err := b.compare(ctx, o, workers)
	if err != nil || judge(got, o.minRatio) == nil {
		return got, err
	}
	again, err := b.compare(ctx, o, workers)
	if err != nil {
		return nil, err
	}
	for i := range got {
		got[i].rounds = append(got[i].rounds, again[i].rounds...)
	}
	return got, nil
}

// judge names the sizes at which the sliding filter is not as fast as it has to
// be. The counting one is not judged: at a quarter more memory than its textbook
// form it is ahead by less where one of them fits a cache and the other does not.
func judge(all []*series, minRatio float64) error {
	var errs []error
	for _, fast := range all {
		if fast.name != slidingName {
			continue
		}
		slow := find(all, slidingTextbookName, fast.keys, fast.workers)
		if r := ratio(slow, fast); r < minRatio {
			errs = append(errs, fmt.Errorf("%s, %d keys, %d goroutines: %.2f times as fast as the textbook's, must be at least %.2f",
				fast.name, fast.keys, fast.workers, r, minRatio))
		}
	}
	return errors.Join(errs...)
}

// find returns the series of a subject; there is one for every size and number of
// workers.
func find(all []*series, name string, keys, workers int) *series {
	for _, s := range all {
		if s.name == name && s.keys == keys && s.workers == workers {
			return s
		}
	}
	panic("filterbench: no series of " + name)
}
