package main

import (
	"errors"
	"fmt"
	"math"
)

// thresholds are the pass criteria of the command line; nil is not set. All are shares, 0 to 1. The report calls them bars.
type thresholds struct {
	minLess *float64 // second-hit must write at least this share less to the disk than always
	maxOff  *float64 // each policy's byte hit ratio may differ from the forecast by at most this
	maxLoss *float64 // second-hit's byte hit ratio may be below that of always by at most this
}

// thresholdResult is the result of one threshold.
type thresholdResult struct {
	text  string // the measured and the wanted value
	holds bool
}

// String returns the line for the report.
func (b thresholdResult) String() string {
	if b.holds {
		return b.text + ": holds"
	}
	return b.text + ": DOES NOT HOLD"
}

// check compares the report with the thresholds.
func (b thresholds) check(d *document) (out []thresholdResult) {
	always, second := d.resultOf(policyAlways), d.resultOf(policySecondHit)
	if b.minLess != nil {
		out = append(out, writesThreshold(*b.minLess, second, always))
	}
	if b.maxLoss != nil {
		out = append(out, thresholdResult{
			fmt.Sprintf("byte hits of second-hit are %s, of always %s, it must be at most %.2f points less",
				percent(second.ByteHitRatio), percent(always.ByteHitRatio), 100**b.maxLoss),
			always.ByteHitRatio-second.ByteHitRatio <= *b.maxLoss,
		})
	}
	if b.maxOff != nil {
		for i := range d.Results {
			if r := &d.Results[i]; r.Foretold != nil {
				out = append(out, forecastThreshold(*b.maxOff, r))
			}
		}
	}
	return out
}

func writesThreshold(want float64, second, always *result) thresholdResult {
	if second.DeviceBytes == nil || always.DeviceBytes == nil || *always.DeviceBytes == 0 {
		return thresholdResult{"the system does not report how many bytes always and second-hit wrote to the disk", false}
	}
	got := 1 - ratio(*second.DeviceBytes, *always.DeviceBytes)
	return thresholdResult{
		fmt.Sprintf("second-hit wrote %s to the disk, always %s, which is %s less, it must be at least %s",
			size(*second.DeviceBytes), size(*always.DeviceBytes), percent(got), percent(want)),
		got >= want,
	}
}

func forecastThreshold(want float64, r *result) thresholdResult {
	off := r.ByteHitRatio - r.Foretold.ByteHitRatio
	return thresholdResult{
		fmt.Sprintf("byte hits of %s are %s, the forecast is %s, a difference of %+.2f points, it must be at most %.2f",
			r.name(), percent(r.ByteHitRatio), percent(r.Foretold.ByteHitRatio), 100*off, 100*want),
		math.Abs(off) <= want,
	}
}

// resultOf returns the result of a policy that has run, or an empty one.
func (d *document) resultOf(policy string) *result {
	for i := range d.Results {
		if d.Results[i].Policy == policy {
			return &d.Results[i]
		}
	}
	return &result{}
}

// missedThresholds returns an error that names the thresholds that do not hold; nil if all do.
func missedThresholds(found []thresholdResult) error {
	var errs []error
	for _, b := range found {
		if !b.holds {
			errs = append(errs, errors.New(b.text))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d bars do not hold:\n%w", len(errs), len(found), errors.Join(errs...))
}
