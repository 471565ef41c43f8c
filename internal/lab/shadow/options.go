package shadow

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// MaxPolicies is the largest number of rules of one Shadow.
const MaxPolicies = 8

// LiveName is the name, among those of the policies, of what the live routes have.
const LiveName = "live"

// Up to sampleBits bits of the low half of a key's hash, from firstBit on, decide
// whether it is in the slice. Neither the filters' probes nor the sample of their
// errors depend on those bits.
const (
	firstBit   = 40
	sampleBits = 16
)

const (
	// entryBytes is what an object takes in addition to its size: the structure of an
	// entry in the proxy's memory tier, its key and a typical header.
	entryBytes = 1 << 10

	// maxSize is the largest size that counts as known: 8 million of them fit a counter.
	maxSize     = 1 << 40
	unknownSize = -1

	// maxEntries bounds the records of one policy.
	maxEntries = 1 << 16

	// A miniature has at least minBytes and room for minObjects of the largest objects;
	// otherwise the slice is made larger. Few objects would say little.
	minBytes   = 32 << 20
	minObjects = 4
)

// Options says which policies to try, and describes the live cache.
type Options struct {
	// Rules are the policies to try: 1 to MaxPolicies, no two the same.
	Rules []admission.Rule

	// Live are the rules of the live routes. If there are any, another policy is tried, under the name LiveName: for each request the rule that
	// the live cache has for it, which uses a filter that one of these uses.
	Live []admission.Rule

	// CapacityBytes is the size of the live cache, MaxObjectBytes the largest
	// body it stores.
	CapacityBytes, MaxObjectBytes int64

	// SecondHit and Counting are the live windows. Each only matters to its policy.
	SecondHit, Counting admission.FilterOptions

	// Objects returns how many objects the live cache holds when it is full, as
	// admission.Gate does. Fitted windows use it. It must be safe for concurrent use.
	Objects func() int64

	// Share is the share of the keys in the slice: 1, 1/2, 1/4 to 1/65536. 0 chooses the
	// smallest share that leaves 32 MiB of the capacity, and room for four of the largest
	// objects: 1/8 of 256 MiB, 1/64 of 2 GiB.
	Share float64
}

// Validate returns nil or every error at once, each a *bloom.OptionError.
func (o Options) Validate() error {
	var errs []error
	wrong := func(option string, value any, want string) {
		errs = append(errs, &bloom.OptionError{Option: option, Value: value, Want: want})
	}
	if o.CapacityBytes <= 0 {
		wrong("capacity", o.CapacityBytes, "a number of bytes above 0")
	}
	if o.MaxObjectBytes <= 0 {
		wrong("max_object", o.MaxObjectBytes, "a number of bytes above 0")
	}
	if o.Share != 0 && halvings(o.Share) < 0 {
		wrong("share", o.Share, fmt.Sprintf("0, or 1, 1/2, 1/4 to 1/%d", 1<<sampleBits))
	}
	if n := len(o.Rules); n < 1 || n > MaxPolicies {
		wrong("policies", n, fmt.Sprintf("1 to %d", MaxPolicies))
	}
	for i, r := range o.Rules {
		if slices.Contains(o.Rules[:i], r) {
			wrong("policies", name(r), "listed once")
		}
		errs = append(errs, o.checkRule(r))
	}
	for _, r := range o.Live {
		errs = append(errs, o.checkRule(r))
	}
	return errors.Join(errs...)
}

// checkRule returns what is wrong with a rule or the window it needs.
func (o Options) checkRule(r admission.Rule) error {
	err := r.Check()
	if !r.Policy.Known() {
		return err
	}
	switch r.Policy.Memory() {
	case policy.Seen:
		err = errors.Join(err, o.inWindow(admission.SecondHitFilter, o.SecondHit))
	case policy.Counted:
		err = errors.Join(err, o.inWindow(admission.CountingFilter, o.Counting))
	case policy.NoMemory:
	}
	return err
}

// inWindow returns what is wrong with a window.
func (o Options) inWindow(name string, w admission.FilterOptions) error {
	err := w.Validate()
	if w.Fitted && o.Objects == nil {
		err = errors.Join(err, &bloom.OptionError{Option: "objects", Value: "none", Want: "those of the cache, which the window is fitted to"})
	}
	if err != nil {
		return fmt.Errorf("%s window: %w", name, err)
	}
	return nil
}

// bits returns how many bits of the hash must be 0 for a key to be in the slice.
func (o Options) bits() int {
	if o.Share != 0 {
		return halvings(o.Share)
	}
	bits := 0
	least := max(minBytes, minObjects*min(o.MaxObjectBytes, o.CapacityBytes))
	for bits < sampleBits && o.CapacityBytes>>(bits+1) >= least {
		bits++
	}
	return bits
}

// halvings returns n if share is 1/2^n and n is within 0..sampleBits, otherwise -1.
func halvings(share float64) int {
	frac, exp := math.Frexp(share) // share = frac * 2^exp, frac within [1/2, 1)
	if n := 1 - exp; frac == 0.5 && n >= 0 && n <= sampleBits {
		return n
	}
	return -1
}
