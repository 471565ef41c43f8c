package simulate

import (
	"maps"
	"slices"
	"strconv"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
)

// MaxSettings is the largest number of settings in one run. Each has a model of
// its own, whose memory grows with the objects of the log.
const MaxSettings = 500

// Grid lists what to try. The settings are all combinations that make sense: policies
// that remember nothing have no rotation and no filter, policies that do not choose have
// no stage, and each policy has its own parameter. An empty list has the defaults, see
// defaults.
type Grid struct {
	Policies           []policy.Policy
	Parameters         Parameters
	Capacities         []Amount         // capacities of the cache; a share is one of the log's unique bytes
	Disks              []Amount         // disk tiers; the capacity is the memory tier then. A share is one of the unique bytes, 0 is none
	Rotations          []Rotation       // each alone
	Generations        []int            // 2 to 4
	FalsePositiveRates []float64        // rates of the whole window; above 0, below 1
	MaxObjects         []int64          // bytes of the largest object that is stored; 0 is edgeproxy's default
	Stages             []Amount         // parts of the capacity, at most half of it. Auto is the proxy's own
	Evictions          []model.Eviction // none: the proxy's own, see evictions
	Exact              bool             // sets in place of filters
	Fleet              model.Fleet      // edges that share the requests, each with the whole setting; the zero value is one cache
}

// defaults fills the empty lists, at 5 % of the unique bytes. If policies, rotations and sets are not given, the operator
// does not know yet what to try: that is second-hit as the proxy has it by default, and counting that waits for one to three
// sightings more, with the proxy's own stage and without one, and with the proxy's own window. Otherwise it is three policies without a
// stage, with the proxy's own window and rotated at 1, 4 and 16 times c keys, and with sets also never.
func (g Grid) defaults() Grid {
	if len(g.Policies) == 0 && len(g.Rotations) == 0 && !g.Exact {
		g.Rotations = []Rotation{{Unit: Fitted}}
		g.Parameters = g.Parameters.with(policy.Counting, furtherSightings()...)
		fill(&g.Stages, Amount{Auto: true}, Amount{})
	}
	if len(g.Rotations) == 0 {
		g.Rotations = append([]Rotation{{Unit: Fitted}}, FixedRotations(g.Exact)...)
	}
	fill(&g.Policies, policy.Always, policy.SecondHit, policy.Counting)
	fill(&g.Capacities, Amount{Percent: 5})
	fill(&g.Disks, Amount{})
	fill(&g.Generations, 2)
	fill(&g.FalsePositiveRates, 0.01)
	fill(&g.MaxObjects, 0)
	fill(&g.Stages, Amount{})
	return g
}

// furtherSightings are the values of more_than to try. Second-hit waits for as many sightings as 1.
func furtherSightings() []float64 { return []float64{2, 3, 4} }

// evictions returns the evictions to try at a capacity. Without any that is the default of the proxy. A cache that is too small
// for it is one that the proxy does not make either, and has the nearest exact one.
func (g Grid) evictions(capacity int64) []model.Eviction {
	switch {
	case len(g.Evictions) > 0:
		return g.Evictions
	case capacity < model.MinTierBytes:
		return []model.Eviction{model.LRU}
	default:
		return []model.Eviction{model.Default}
	}
}

// FixedRotations returns the default rotations that do not fit themselves to the
// cache, for sets (exact) or filters.
func FixedRotations(exact bool) []Rotation {
	out := []Rotation{{Unit: ByKeys, PerCached: 1}, {Unit: ByKeys, PerCached: 4}, {Unit: ByKeys, PerCached: 16}}
	if exact {
		return append([]Rotation{{Unit: Never}}, out...)
	}
	return out
}

// Parameters has the values to try of each policy's parameter, by the policy's name. A
// policy without values has its default.
type Parameters map[string][]float64

// with returns p with these values for a policy that has none.
func (p Parameters) with(of policy.Policy, values ...float64) Parameters {
	if len(p[of.String()]) > 0 {
		return p
	}
	out := Parameters{of.String(): values}
	maps.Copy(out, p)
	out[of.String()] = values
	return out
}

// rules returns one rule of p for each value of its parameter.
func (p Parameters) rules(of policy.Policy) []policy.Rule {
	r := policy.Rule{Policy: of}
	param := of.Parameter()
	if param == nil {
		return []policy.Rule{r}
	}
	values := p[of.String()]
	fill(&values, param.Default)
	out := make([]policy.Rule, len(values))
	for i, v := range values {
		out[i] = param.In(r, v)
	}
	return out
}

// fill gives an empty list its defaults.
func fill[T any](list *[]T, defaults ...T) {
	if len(*list) == 0 {
		*list = defaults
	}
}

// count returns how many settings the grid has, the baselines included.
func (g Grid) count() float64 {
	rules := float64(0)
	for _, p := range g.Policies {
		n := float64(len(g.Parameters.rules(p)))
		if p.Remembers() {
			n *= float64(len(g.Rotations)) * float64(len(g.Generations)) * float64(len(g.rates()))
		}
		if p.Chooses() {
			n *= float64(len(g.Stages))
		}
		rules += n
	}
	if !slices.Contains(g.Policies, policy.Always) {
		rules++
	}
	return rules * float64(len(g.Capacities)) * float64(len(g.Disks)) * float64(max(1, len(g.Evictions))) * float64(len(g.MaxObjects))
}

// rates returns the false positive rates to try; sets have none.
func (g Grid) rates() []float64 {
	if g.Exact {
		return []float64{0}
	}
	return g.FalsePositiveRates
}

// check refuses values that cannot work with any sizes.
func (g Grid) check(hasTimes bool) error {
	if err := g.checkFleet(); err != nil {
		return err
	}
	for _, r := range g.Rotations {
		switch {
		case r.Every > 0 && !hasTimes:
			return &GridError{
				"rotate-every", shortDuration(r.Every),
				"a log with times, in 99 of 100 lines; this one has none or too few, so give --rotate-keys or --rotate-requests",
			}
		case r.Unit == Never && !g.Exact:
			return &GridError{"rotation", "never", "a rotation, or --exact: a filter that never forgets fills up"}
		}
	}
	if n := g.count(); n > MaxSettings {
		return &GridError{
			"grid", "of " + strconv.FormatFloat(n, 'f', 0, 64) + " settings",
			"at most " + strconv.Itoa(MaxSettings) + "; give fewer values to try",
		}
	}
	return nil
}

// GridError is a value of a Grid that cannot work, alone or with this log.
type GridError struct {
	Setting string // the flag without its dashes, such as "rotate-every"; or "grid", "rotation"
	Value   string
	Want    string
}

// Error returns setting, value and what is wanted, in this order.
func (e *GridError) Error() string { return e.Setting + " " + e.Value + ": must be " + e.Want }

// IsFlag reports whether Setting is the name of one flag.
func (e *GridError) IsFlag() bool { return e.Setting != "grid" && e.Setting != "rotation" }
