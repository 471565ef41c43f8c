package main

import (
	"errors"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
)

// fits checks what only the rooms know of a configuration: whether filters of
// these sizes can be built. The error is a config.Errors.
func fits(c *config.Config) error {
	var faults config.Errors
	for _, f := range []struct {
		section string
		filter  *admission.FilterOptions
		layout  bloom.Layout
	}{
		{"admission.second_hit", window(c.Admission.SecondHit), bloom.SplitBlock},
		{"admission.counting", window(c.Admission.Counting.Window), bloom.CountingLine},
	} {
		for _, fault := range optionErrors(f.filter.Options.Validate(f.layout)) {
			faults = append(faults, c.Fault(f.section+"."+fault.Option, "want "+fault.Want))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return faults
}

// optionErrors returns the faults that err joins.
func optionErrors(err error) (out []*bloom.OptionError) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			out = append(out, optionErrors(e)...)
		}
		return out
	}
	if fault, ok := errors.AsType[*bloom.OptionError](err); ok {
		out = append(out, fault)
	}
	return out
}
