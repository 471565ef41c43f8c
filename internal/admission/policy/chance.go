package policy

import "edgeproxy/internal/http/reason"

// chance stores a share of what is fetched, drawn by lot. It remembers nothing: what is
// asked for often is drawn often.
//
// Every sighting is drawn once, by its number. So a log tells the draws, whatever the
// seed of the keys' hash: simulate has those of the proxy. Requests that share a fetch
// are drawn one by one as well, and each may admit the response: what is stored is the
// same as if they had come one after another.
var chance = policy{
	name:     "chance",
	admits:   func(r Rule, s Sighting) bool { return draw(s.Number) < r.Probability },
	why:      reason.NotDrawn,
	numbered: true,
	parameter: &Parameter{
		Name: "probability", Usage: "store this share of what is fetched, a `ratio`",
		Least: 0, AboveLeast: true, Most: 1, Default: 0.2,
		of: func(r *Rule) float64 { return r.Probability },
		to: func(r *Rule, v float64) { r.Probability = v },
	},
}

// draw returns a number within [0, 1) for the nth sighting: the nth output of SplitMix64
// (Steele, Lea, Flood 2014) with the seed 0, of which 53 bits fit a float64.
func draw(n int64) float64 {
	x := uint64(n) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}
