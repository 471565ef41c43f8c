package simulate

import (
	"math"
	"slices"
	"strconv"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
)

// unlimitedBytes stands for a capacity that depends on the log. It is more than any limit of
// an object or a stage.
const unlimitedBytes = math.MaxInt64 / 1024

// Check returns an error that the grid has with any log, before one is read: a
// *GridError, or an error that wraps a *bloom.OptionError.
func (g Grid) Check() error {
	if err := g.checkUnused(); err != nil {
		return err
	}
	log := trace.Facts{Requests: unlimitedBytes, Objects: unlimitedBytes, UniqueBytes: unlimitedBytes}
	g.Capacities = slices.Clone(g.Capacities)
	for i, c := range g.Capacities {
		if c.Percent > 0 {
			g.Capacities[i] = Amount{Bytes: unlimitedBytes}
		}
	}
	if len(g.Capacities) == 0 {
		g.Capacities = []Amount{{Bytes: unlimitedBytes}}
	}
	_, err := g.groups(log, true)
	return err
}

// checkUnused refuses values that would have no effect.
func (g Grid) checkUnused() error {
	policies := g.defaults().Policies
	for _, p := range policy.All() {
		if values := g.Parameters[p.String()]; len(values) > 0 && !slices.Contains(policies, p) {
			return &GridError{p.Parameter().Flag(), policy.Number(values[0]), p.String() + " among the policies; no other has it"}
		}
	}
	if g.Exact && len(g.FalsePositiveRates) > 0 {
		return &GridError{"false-positive-rate", strconv.FormatFloat(g.FalsePositiveRates[0], 'g', -1, 64), "without --exact: sets do not err"}
	}
	if !slices.ContainsFunc(policies, policy.Policy.Remembers) {
		if err := g.checkUnusedWindow(); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(policies, policy.Policy.Chooses) && slices.ContainsFunc(g.Stages, func(a Amount) bool { return a != (Amount{}) }) {
		return &GridError{"stage", g.Stages[0].String(), policy.OneOf(policy.Names(policy.Policy.Chooses)) + " among the policies; the others hold back nothing, or everything"}
	}
	return nil
}

// checkUnusedWindow refuses values for filters if no policy remembers sightings.
func (g Grid) checkUnusedWindow() error {
	want := policy.OneOf(policy.Names(policy.Policy.Remembers)) + " among the policies; the others remember nothing"
	switch {
	case len(g.Rotations) > 0:
		return &GridError{"rotation", g.Rotations[0].label(), want}
	case len(g.Generations) > 0:
		return &GridError{"generations", strconv.Itoa(g.Generations[0]), want}
	case len(g.FalsePositiveRates) > 0:
		return &GridError{"false-positive-rate", strconv.FormatFloat(g.FalsePositiveRates[0], 'g', -1, 64), want}
	case g.Exact:
		return &GridError{"exact", "true", want}
	}
	return nil
}
