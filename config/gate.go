package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// Keys of settings that only act on what the gate, the admission policy, holds back.
const (
	warmUpBelow = "admission.warm_up_below"
	stateFile   = "admission.state"
	stageBytes  = "cache.memory.stage_bytes"
)

const minStageBytes Size = fit.LeastStage

// AutoStage as Memory.StageBytes is the stage that fits the rest: Config.Stage has its bytes.
const AutoStage Size = -1

// autoWord is the word for it in the file.
const autoWord = "auto"

// Stage returns the bytes of the stage, 0 for none: StageBytes, or what fits. Without a policy that holds anything back
// none fits.
func (c *Config) Stage() Size {
	m := &c.Cache.Memory
	switch {
	case m.StageBytes != AutoStage:
		return m.StageBytes
	case !c.usesAny(policy.Policy.Chooses):
		return 0
	}
	return Size(fit.Stage(int64(m.MaxBytes), int64(m.MaxObjectBytes)))
}

// gate checks admission.state and the stage.
func (v *validator) gate() {
	a := &v.c.Admission
	switch {
	case !v.noErrorAt(stateFile):
	case a.State == "-" || strings.HasSuffix(a.State, "/") || strings.ContainsFunc(a.State, unicode.IsControl):
		v.fail(stateFile, `must be a file, or "" for none`)
	}
	v.stage()
}

// stage checks the part of the memory tier for responses requested once.
func (v *validator) stage() {
	m := &v.c.Cache.Memory
	switch {
	case !v.noErrorAt("cache.memory"):
	case m.StageBytes > m.MaxBytes/2:
		v.fail(stageBytes, "must be at most "+(m.MaxBytes/2).String()+", half of max_bytes")
	}
}

// unusedGateKeys refuses settings that have no effect with the policies of all routes.
func (v *validator) unusedGateKeys() {
	a := &v.c.Admission
	if v.incomplete || len(v.c.Routes) == 0 && v.src.given("routes") || !v.noErrorAt("admission.policy", "routes") {
		return
	}
	if v.c.usesAny(policy.Policy.Chooses) {
		return
	}
	want := noRouteOf(policy.Policy.Chooses)
	if a.WarmUpBelow != 0 && v.noErrorAt(warmUpBelow) {
		v.fail(warmUpBelow, "must be 0.0"+want)
	}
	if v.c.Cache.Memory.StageBytes > 0 && v.noErrorAt(stageBytes) {
		v.fail(stageBytes, "must be auto or 0B"+want)
	}
}

// noRouteOf says that no route has a policy with the property.
func noRouteOf(property func(policy.Policy) bool) string {
	return ": no route's policy is " + policy.OneOf(policy.Names(property))
}

// shadow checks the shadow policies.
func (v *validator) shadow() {
	const list = "admission.shadow"
	rules := v.c.Admission.Shadow
	if len(rules) > MaxShadow {
		v.fail(list, "must be at most "+strconv.Itoa(MaxShadow)+" policies")
		return
	}
	for i, r := range rules {
		path := item(list, i)
		policyAt, moreThan := child(path, "policy"), child(path, "more_than")
		switch {
		case !v.noErrorAt(path):
		case r.Policy == policy.Unset:
			v.fail(policyAt, missing("a policy: "+oneOf(policy.Names(nil))))
		case r.Policy != policy.Counting && v.src.given(moreThan):
			v.fail(moreThan, "remove it: the policy is "+r.Policy.String()+", not counting")
		case slices.Contains(rules[:i], r):
			v.fail(path, "each policy must be listed once: this is the same as "+item(list, slices.Index(rules, r)))
		}
	}
}

// GatedTierBytes returns the size of the tier behind the admission gate: the disk if there is one, else the memory without the
// stage.
func (c *Config) GatedTierBytes() int64 {
	if n := len(c.Cache.Disk.Paths); n > 0 {
		return int64(n) * int64(c.Cache.Disk.MaxBytes)
	}
	return int64(c.Cache.Memory.MaxBytes - c.Stage())
}

// LargestMoreThan returns the largest more_than of the routes, which share the counting filter; 0 if none counts.
func (c *Config) LargestMoreThan() (most int) {
	for i := range c.Routes {
		most = max(most, c.Routes[i].Admission.MoreThan)
	}
	return most
}

// filters checks whether filters of these sizes can be built. Their sizes depend on other settings, so it does not if any is at fault.
func (v *validator) filters() (found Errors) {
	if len(v.errs) > 0 {
		return nil
	}
	a := &v.c.Admission
	for _, f := range []struct {
		section, name string
		window        admission.FilterOptions
	}{
		{"admission.second_hit", admission.SecondHitFilter, a.SecondHit},
		{"admission.counting", admission.CountingFilter, a.Counting.Window},
	} {
		err := admission.CheckFilter(f.name, f.window, v.c.LargestMoreThan(), v.c.GatedTierBytes())
		for _, e := range Joined[*bloom.OptionError](err) {
			found = append(found, v.src.fault(child(f.section, e.Option), "must be "+e.Want))
		}
	}
	return found
}
