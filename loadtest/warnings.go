package main

import (
	"fmt"
	"time"
)

// selfChecker is a proxy that reports what makes its own figures doubtful.
type selfChecker interface {
	doubts() []string
}

// judge adds a warning for everything that makes the figures doubtful.
func (r *policyRun) judge(o *origin, e proxy) {
	warn := func(format string, args ...any) { r.warnings = append(r.warnings, fmt.Sprintf(format, args...)) }
	for _, d := range r.counts.disagreements(r.server, r.tally, o) {
		warn("%s", d)
	}
	if n := o.unknown.Load(); n > 0 {
		warn("the origin got %d requests for objects that are not in the trace", n)
	}
	if n := r.counts.passed; n > 0 {
		warn("%s bypassed the cache for %d requests, though all objects are storable", r.server, n)
	}
	if n := r.counts.knownEvictions(); r.setting.policy == policyAlways && n != nil && *n == 0 {
		warn("the cache never filled: nothing was evicted, so this run cannot show the gain; --capacity makes it smaller")
	}
	if r.tally.errors > 0 {
		warn("%d responses failed, the first: %s", r.tally.errors, r.tally.samples[0])
	}
	planned := r.planned(r.tally.requests())
	if over := r.elapsed - planned; over > behindTime && over.Seconds() > behindShare*planned.Seconds() {
		warn("fell behind: took %s instead of %s, %d requests sent late (at worst by %s); latencies include that wait",
			r.elapsed.Round(time.Millisecond), planned.Round(time.Millisecond), r.tally.late, r.tally.worstLate.Round(time.Millisecond))
	}
	if d, ok := e.(selfChecker); ok {
		r.warnings = append(r.warnings, d.doubts()...)
	}
}
