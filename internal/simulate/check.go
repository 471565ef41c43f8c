package simulate

import (
	"math"
	"slices"
	"strconv"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/trace"
)

// anyBytes stands for a capacity that only a log can tell: more than any limit of
// an object or a stage.
const anyBytes = math.MaxInt64 / 1024

// Check returns what is wrong with the grid whatever the log is, so that none has
// to be read for it: a *GridError, or an error with a *bloom.OptionError in it.
func (g Grid) Check() error {
	if err := g.ignored(); err != nil {
		return err
	}
	log := trace.Facts{Requests: anyBytes, Objects: anyBytes, UniqueBytes: anyBytes}
	g.Capacities = slices.Clone(g.Capacities)
	for i, c := range g.Capacities {
		if c.Percent > 0 {
			g.Capacities[i] = Amount{Bytes: anyBytes}
		}
	}
	if len(g.Capacities) == 0 {
		g.Capacities = []Amount{{Bytes: anyBytes}}
	}
	_, err := g.groups(log, true)
	return err
}

// ignored refuses what would have no effect.
func (g Grid) ignored() error {
	has := func(p admission.Policy) bool { return len(g.Policies) == 0 || slices.Contains(g.Policies, p) }
	if len(g.MoreThan) > 0 && !has(admission.Counting) {
		return &GridError{"more-than", strconv.Itoa(g.MoreThan[0]), "counting among the policies; no other has a threshold"}
	}
	if g.Exact && len(g.FalsePositiveRates) > 0 {
		return &GridError{"false-positive-rate", strconv.FormatFloat(g.FalsePositiveRates[0], 'g', -1, 64), "no --exact: sets do not err"}
	}
	if has(admission.SecondHit) || has(admission.Counting) {
		return nil
	}
	return g.unremembered()
}

// unremembered refuses what is about sightings, where no policy remembers any.
func (g Grid) unremembered() error {
	const want = "second-hit or counting among the policies; the others remember nothing"
	switch {
	case len(g.Rotations) > 0:
		return &GridError{"rotation", g.Rotations[0].asked(), want}
	case len(g.Generations) > 0:
		return &GridError{"generations", strconv.Itoa(g.Generations[0]), want}
	case len(g.FalsePositiveRates) > 0:
		return &GridError{"false-positive-rate", strconv.FormatFloat(g.FalsePositiveRates[0], 'g', -1, 64), want}
	case g.Exact:
		return &GridError{"exact", "true", want}
	case slices.ContainsFunc(g.Stages, func(a Amount) bool { return a != (Amount{}) }):
		return &GridError{"stage", g.Stages[0].String(), want}
	}
	return nil
}
