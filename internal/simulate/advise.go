package simulate

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/model"
)

// How much more a recommended setting may fetch from the origin than the best
// one. The origin's bill is the measure, not the hit ratio: at 98 % hits one
// point is half of that bill, at 30 % next to nothing. Requests have more room
// than bytes: what is held back is small things as well as large ones, and a
// small one costs the origin little.
const (
	moreBytes    = 0.05
	moreRequests = 0.10
)

// Rule is how a setting is recommended, for a reader.
const Rule = "the fewest writes on the front of writes against byte hits, as long as the origin sends at most " +
	"5% more bytes and 10% more responses than under the best setting for each"

// Advice is the setting to take at one capacity.
type Advice struct {
	CapacityBytes int64
	Result        Result
	Why           string // one or two sentences
	YAML          string // the sections admission and cache of a configuration file
}

// advise recommends one setting for every capacity and object limit.
func (r *Report) advise() {
	type size struct{ capacity, limit int64 }
	var order []size
	groups := map[size]*Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		at := size{g.CapacityBytes, g.limit}
		if groups[at] == nil {
			order = append(order, at)
		}
		// Ristretto is what the proxy itself evicts by; else the first will do.
		if groups[at] == nil || g.Eviction == string(model.Ristretto) {
			groups[at] = g
		}
	}
	for _, at := range order {
		if i := recommended(groups[at].Results); i >= 0 {
			r.Advice = append(r.Advice, r.advice(groups[at], &groups[at].Results[i]))
		} else {
			r.Unadvised = append(r.Unadvised, at.capacity)
		}
	}
}

// recommended returns the index of the result that Rule selects, of those that
// were asked for; the best they are measured by may be a baseline that was not.
// Where the front has none it is the one that fetches the fewest bytes, and -1
// where nothing but never is on the front: that is no cache, and no other would
// be worth it.
func recommended(results []Result) int {
	best, most := -1, -1
	for i := range results {
		r := &results[i]
		if !r.Pareto || r.unasked || r.Policy == admission.Never.String() {
			continue
		}
		if most < 0 || r.OriginBytes < results[most].OriginBytes {
			most = i
		}
		if within(results, r) && (best < 0 || r.Writes < results[best].Writes) {
			best = i
		}
	}
	if best < 0 {
		return most
	}
	return best
}

// within reports whether r fetches as little as Rule wants.
func within(results []Result, r *Result) bool {
	bytes, requests := r.OriginBytes, r.OriginRequests
	for i := range results {
		bytes, requests = min(bytes, results[i].OriginBytes), min(requests, results[i].OriginRequests)
	}
	return float64(r.OriginBytes) <= float64(bytes)*(1+moreBytes) && float64(r.OriginRequests) <= float64(requests)*(1+moreRequests)
}

func (r *Report) advice(g *Group, chosen *Result) Advice {
	chosen.Recommended = true
	return Advice{CapacityBytes: g.CapacityBytes, Result: *chosen, Why: why(g, chosen), YAML: r.yaml(g, chosen)}
}

// why explains the choice.
func why(g *Group, chosen *Result) string {
	near, asked := int64(0), int64(0)
	for i := range g.Results {
		if g.Results[i].unasked {
			continue
		}
		asked++
		if within(g.Results, &g.Results[i]) {
			near++
		}
	}
	var b strings.Builder
	b.WriteString(chosen.describe() + ". ")
	if near > 0 {
		fmt.Fprintf(&b, "The origin sends at most %.0f%% more bytes and %.0f%% more responses than under the best of each for %d of %s; of these it has the fewest writes, %s.",
			100*moreBytes, 100*moreRequests, near, counted(asked, "setting"), humanize.Comma(chosen.Writes))
	} else {
		fmt.Fprintf(&b, "No setting keeps both bytes and responses of the origin near the best; of %s it fetches the fewest bytes.", counted(asked, "setting"))
	}
	always := &g.Results[0]
	switch {
	case chosen.Policy == admission.Always.String():
		b.WriteString(" Holding newcomers back costs more here than that.")
	case always.Writes > 0 && always.OriginBytes > 0:
		fmt.Fprintf(&b, " Against always it avoids %.1f%% of the writes; hit ratio %s for %s, and the origin sends %s (%+.1f%%).",
			100*ratio(chosen.WritesAvoided, always.Writes), percent(chosen.HitRatio), percent(always.HitRatio),
			more(chosen.extra), 100*ratio(chosen.extra, always.OriginBytes))
	}
	return b.String()
}

// more says how much more or less than always.
func more(bytes int64) string {
	if bytes < 0 {
		return size(-bytes) + " less"
	}
	return size(bytes) + " more"
}

// describe names a setting in words.
func (r *Result) describe() string {
	out := r.name()
	if r.windowed {
		out += ", " + r.window()
	}
	if r.StageBytes > 0 {
		out += ", stage " + size(r.StageBytes)
	}
	return out
}

// window describes when the filter forgets.
func (r *Result) window() string {
	if r.rotation.Unit == Never {
		return "never forgetting"
	}
	return "rotated " + r.rotation.readable()
}
