package config

import (
	"cmp"
	"strconv"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// Admission is the policy of all routes without one of their own, and the filters, which
// all routes share.
type Admission struct {
	Policy      policy.Policy
	SecondHit   admission.FilterOptions
	Counting    Counting
	Chance      Chance
	WarmUpBelow float64       // everything storable is stored while the cache is below this share of its size; 0 to 1, 0 is never
	State       string        // the file that keeps the sightings over a restart; "" is none
	Shadow      []policy.Rule // tried on a sample of the traffic, storing nothing; at most MaxShadow, no two the same
}

// MaxShadow is the largest number of shadow policies.
const MaxShadow = 8

// fixedCapacity is the default capacity of a fixed window. fixedSecondHit and fixedCounting
// are the default periods.
const (
	fixedCapacity  = 1_000_000
	fixedSecondHit = 30 * time.Minute
	fixedCounting  = 6 * time.Hour
)

// resolveWindow sets the defaults of a fixed window; every is its period.
func resolveWindow(w *admission.FilterOptions, src *source, path string, every time.Duration) {
	if !src.given(child(path, "window")) && src.given(child(path, "capacity")) {
		w.Fitted = false
	}
	if w.Fitted {
		return
	}
	if !src.given(child(path, "rotate_every")) {
		w.RotateEvery = every
	}
	if !src.given(child(path, "capacity")) {
		w.Capacity = fixedCapacity
	}
}

// Counting is the filter of policy.Counting.
type Counting struct {
	MoreThan int // stored on the sighting after this many
	Window   admission.FilterOptions
}

// Chance is the setting of policy.Chance.
type Chance struct {
	Probability float64 // the share that is stored; above 0, at most 1
}

// rule returns the rule of a route whose own settings are own.
func (c *Config) rule(own policy.Rule) policy.Rule {
	r := policy.Rule{Policy: own.Policy}
	if r.Policy == policy.Unset {
		r.Policy = c.Admission.Policy
	}
	if r.Policy == policy.Counting {
		r.MoreThan = cmp.Or(own.MoreThan, c.Admission.Counting.MoreThan)
	}
	if r.Policy == policy.Chance {
		r.Probability = c.Admission.Chance.Probability
	}
	return r
}

// The largest values of the filters' settings: a larger filter would not fit into memory.
const (
	maxCapacity = 1_000_000_000
)

func (a *Admission) table() table {
	return table{
		live("policy", enum(&a.Policy, policy.SecondHit, policy.All()...),
			"Which storable responses are stored. second-hit stores those requested before within the window, counting those requested more than more_than times.").withFlag(flagPolicy, "admission").asBasic(),
		section("second_hit", func() table { return windowTable(&a.SecondHit, "2.9GiB", fixedSecondHit) }, "The filter of second-hit."),
		live("warm_up_below", ratio(&a.WarmUpBelow, 0).between(0, 1).withError("must be 0.0 to 1.0, a share of the cache's size"),
			"Everything storable is stored while the cache is below this share of its size.").asDependent(),
		restart("state", textual(&a.State, ""), "A file that keeps the sightings (requests counted for admission) over a restart.").asDependent().withExample("/var/lib/edgeproxy/sightings"),
		restart("shadow", &items[policy.Rule]{
			field: &a.Shadow, want: "must be a list, such as [{policy: always}]",
			tableOf: shadowTable, oneLine: true, kindText: "list of policies", derived: derivedProbability,
		}, "Up to 8 policies that are tried on a sample of the traffic and store nothing.").withExample("[{policy: always}]"),
		section("counting", a.Counting.table, "The filter of counting. Only allowed if a route or shadow uses the policy.").asOptional(),
		section("chance", a.Chance.table, "The draw of chance. Only allowed if a route or shadow uses the policy.").asOptional(),
	}
}

// windowTable returns the settings of a window. every is the default period of a fixed one. memory
// is what the largest window takes at the default rate and number of generations: about 12.3
// bits, or 59 bits of counters, for each key and generation (Bloom 1970).
func windowTable(w *admission.FilterOptions, memory string, every time.Duration) table {
	most := strconv.Itoa(maxCapacity)
	return table{
		restart("window", enum(&w.Fitted, true, true, false),
			"auto fits the window to what the cache holds; fixed uses rotate_every and capacity."),
		restart("generations", count(&w.Generations, 2).between(2, 4).withErrorBelow("must be 2 to 4: a single generation would forget every key at each rotation"),
			"The number of parts of the window. At each rotation the oldest is forgotten."),
		restart("rotate_every", duration(&w.RotateEvery, 0).atLeast(time.Second).zero().withErrorBelow("must be at least 1s, or 0s for no bound in time"),
			"The window moves on after this time at the latest; 0s is not by time. A fixed one has "+formatDuration(every)+" unless said."),
		restart("capacity", count(&w.Capacity, 0).between(1, maxCapacity).withErrorAbove("must be at most "+most+": that many keys take "+memory).withErrorBelow("must be 1 to "+most),
			"Distinct keys that a generation holds, with window: fixed only. Alone it means fixed, where it is 1000000 unless said.").asOptional().asDependent().withExample("1000000"),
		restart("false_positive_rate", ratio(&w.FalsePositiveRate, 0.01).between(bloom.MinRate, bloom.MaxRate).withError(bloom.WantRate),
			"The share of unseen keys that are taken for seen ones when every generation is full."),
	}
}

func (c *Counting) table() table {
	const memory = "13.7GiB"
	return append(table{
		live("more_than", sightings(&c.MoreThan, int(policy.Counting.Parameter().Default)), "A response is stored once its key was requested more than this many times within the window."),
	}, windowTable(&c.Window, memory, fixedCounting)...)
}

func (c *Chance) table() table {
	p := policy.Chance.Parameter()
	return table{
		live("probability", ratio(&c.Probability, p.Default).moreThan(p.Least).atMost(p.Most).withError("must be a share "+p.Want()),
			"The share of storable responses that is stored, at random."),
	}
}

// sightings is the number of sightings that a key needs to exceed under policy.Counting.
func sightings(field *int, byDefault int) *number[int] {
	p := policy.Counting.Parameter()
	return count(field, byDefault).between(int(p.Least), int(p.Most)).withError("must be " + p.Want() + ": a counter has four bits and ends at 15")
}

// derivedProbability names the probability that a shadow policy chance takes from admission.chance.
func derivedProbability(r *policy.Rule) string {
	if r.Policy != policy.Chance {
		return ""
	}
	return " at probability " + strconv.FormatFloat(r.Probability, 'g', -1, 64)
}

// ruleTable is the admission section of a route.
func ruleTable(r *policy.Rule) table {
	return table{
		live("policy", enum(&r.Policy, policy.Unset, policy.All()...), "The policy of this route, in place of admission.policy.").asOptional().withExample("counting"),
		live("more_than", sightings(&r.MoreThan, 0), "In place of admission.counting.more_than.").asOptional().asDependent().withExample("2"),
	}
}

// shadowTable is the table of a shadow policy.
func shadowTable(r *policy.Rule) table {
	return table{
		restart("policy", enum(&r.Policy, policy.Unset, policy.All()...), "The policy to try.").asRequired(),
		restart("more_than", sightings(&r.MoreThan, 0), "In place of admission.counting.more_than.").asOptional().withExample("2"),
	}
}
