package main

import (
	"errors"
	"fmt"
	"math"
)

// bars is what the command line wants of a run with a disk; nil is not asked for. All are shares, 0 to 1.
type bars struct {
	less *float64 // second-hit is to have so much less written to the disk than always
	off  *float64 // each policy's byte hit ratio is to be as near to the foretold one
	loss *float64 // second-hit's byte hit ratio is to be at most so much below that of always
}

// bar is one of them, as it was found.
type bar struct {
	text  string // what was found, and what is wanted
	holds bool
}

// String returns the line for a reader.
func (b bar) String() string {
	if b.holds {
		return b.text + ": holds"
	}
	return b.text + ": DOES NOT HOLD"
}

// against compares the report with the bars.
func (b bars) against(d *document) (out []bar) {
	always, second := d.resultOf(policyAlways), d.resultOf(policySecondHit)
	if b.less != nil {
		out = append(out, lessBar(*b.less, second, always))
	}
	if b.loss != nil {
		out = append(out, bar{
			fmt.Sprintf("byte hits of second-hit are %s, of always %s, at most %.2f points less are wanted",
				percent(second.ByteHitRatio), percent(always.ByteHitRatio), 100**b.loss),
			always.ByteHitRatio-second.ByteHitRatio <= *b.loss,
		})
	}
	if b.off != nil {
		for i := range d.Results {
			if r := &d.Results[i]; r.Foretold != nil {
				out = append(out, offBar(*b.off, r))
			}
		}
	}
	return out
}

func lessBar(want float64, second, always *result) bar {
	if second.DeviceBytes == nil || always.DeviceBytes == nil || *always.DeviceBytes == 0 {
		return bar{"the system does not tell how many bytes always and second-hit wrote to the disk", false}
	}
	got := 1 - ratio(*second.DeviceBytes, *always.DeviceBytes)
	return bar{
		fmt.Sprintf("second-hit wrote %s to the disk, always %s, which is %s less, at least %s is wanted",
			size(*second.DeviceBytes), size(*always.DeviceBytes), percent(got), percent(want)),
		got >= want,
	}
}

func offBar(want float64, r *result) bar {
	off := r.ByteHitRatio - r.Foretold.ByteHitRatio
	return bar{
		fmt.Sprintf("byte hits of %s are %s, foretold are %s, which is %+.2f points, at most %.2f are wanted",
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

// failed returns an error that names the bars that do not hold; nil if all do.
func failed(found []bar) error {
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
