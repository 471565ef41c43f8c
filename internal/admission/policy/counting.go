package policy

import "edgeproxy/internal/http/reason"

// MostMoreThan is the largest Rule.MoreThan. Beyond it a single generation of the
// counting filter, whose counters end at 15, could not count far enough, and a rule
// might never admit.
const MostMoreThan = 14

// counting stores what was asked for more than a number of times, within the window.
var counting = policy{
	name:   "counting",
	memory: Counted,
	admits: func(r Rule, s Sighting) bool { return s.Times > r.MoreThan },
	needs:  func(r Rule) int { return r.MoreThan + 1 },
	why:    reason.TooFewSightings,
	parameter: &Parameter{
		Name: "more_than", Usage: "store on the sighting after `n`", Sign: ">",
		Least: 1, Most: MostMoreThan, Whole: true, Default: 4,
		of: func(r *Rule) float64 { return float64(r.MoreThan) },
		to: func(r *Rule, v float64) { r.MoreThan = int(v) },
	},
}
