package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
)

// Advice is the setting to take at one capacity.
type Advice struct {
	CapacityBytes int64
	DiskBytes     int64 // 0: none
	Result        Result
	Why           string // some sentences
	YAML          string // the sections admission and cache of a configuration file
}

// advise recommends one setting for every capacity, disk and object limit.
func (r *Report) advise() {
	type size struct{ capacity, disk, limit int64 }
	var order []size
	groups, bounds := map[size]*Group{}, map[size]*Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		for j := range g.Results {
			g.Results[j].Thin = g.Results[j].lacksEvidence()
		}
		at := size{g.CapacityBytes, g.DiskBytes, g.limit}
		if !slices.Contains(order, at) {
			order = append(order, at)
		}
		if g.Eviction == string(model.Clairvoyant) {
			bounds[at] = g
			continue
		}
		// The proxy has its default unless told otherwise. Without it, its other one is used, or else the first.
		if groups[at] == nil || g.Eviction == string(model.Default) || !model.Eviction(groups[at].Eviction).OfTheProxy() && model.Eviction(g.Eviction).OfTheProxy() {
			groups[at] = g
		}
	}
	for _, at := range order {
		r.adviseOn(groups[at], bounds[at])
	}
}

// adviseOn recommends a setting of g, or says why there is none. The bound, if not nil, is what knows the future. It is never
// recommended.
func (r *Report) adviseOn(g, bound *Group) {
	if g == nil {
		r.Unadvised = append(r.Unadvised, Unadvised{bound.CapacityBytes, bound.DiskBytes, whyBound})
		return
	}
	refuse := func(why string) { r.Unadvised = append(r.Unadvised, Unadvised{g.CapacityBytes, g.DiskBytes, why}) }
	if r.sizeless() {
		refuse(whySizeless)
		return
	}
	if why := r.missing(g); why != "" {
		refuse(why)
		return
	}
	i, near := r.Goal.choose(g.Results)
	if i < 0 {
		refuse(whyNothing)
		return
	}
	chosen := &g.Results[i]
	chosen.Recommended = true
	r.Advice = append(r.Advice, Advice{
		CapacityBytes: g.CapacityBytes, DiskBytes: g.DiskBytes, Result: *chosen, Why: r.Goal.why(g, chosen, near) + bound.from(chosen), YAML: r.yaml(g, chosen),
	})
}

// whyBound is why nothing is recommended beside what knows the future.
const whyBound = "clairvoyant knows the future, as no cache can; give another --eviction beside it"

// from says how far the choice is from the bound g, "" if there is none.
func (g *Group) from(chosen *Result) string {
	if g == nil {
		return ""
	}
	b := &g.Results[0]
	return fmt.Sprintf(" Clairvoyant, which knows the future, has a hit ratio of %s and a byte hit ratio of %s: %+.1f and %+.1f points.",
		percent(b.HitRatio), percent(b.ByteHitRatio), 100*(b.HitRatio-chosen.HitRatio), 100*(b.ByteHitRatio-chosen.ByteHitRatio))
}

// why explains the choice; near is the number of settings that meet the rule.
func (g Goal) why(group *Group, chosen *Result, near int) string {
	asked := int64(0)
	for i := range group.Results {
		if group.Results[i].eligible() {
			asked++
		}
	}
	var b strings.Builder
	b.WriteString(chosen.describe() + ", eviction " + group.Eviction + ". ")
	switch {
	case g == MostHits:
		fmt.Fprintf(&b, "Of %s it has the most hits, %s.", counted(asked, "setting"), percent(chosen.HitRatio))
	case g == FewestWrites:
		fmt.Fprintf(&b, "Of %s it has the fewest writes, %s.", counted(asked, "setting"), humanize.Comma(chosen.Writes))
	case near == 0:
		fmt.Fprintf(&b, "No setting that was asked for is within %.0f points of the highest hit ratio with at most %.0f%% more from the origin than the least; of %s it has the most hits.",
			100*balancedPoints, 100*balancedMore, counted(asked, "setting"))
	default:
		which := "of these"
		if chosen.rotation.fitsItself() {
			which = "of these with window auto, which needs no numbers of this log,"
		}
		fmt.Fprintf(&b, "%d of %s are within %.0f points of the highest hit ratio and let the origin send at most %.0f%% more than the least; %s it has the fewest writes, %s.",
			near, counted(asked, "setting"), 100*balancedPoints, 100*balancedMore, which, humanize.Comma(chosen.Writes))
	}
	b.WriteString(withoutEvidence(group.Results) + g.comparedWith(&group.Results[0], chosen) + thirdSighting(group) + g.alternative(group, chosen))
	return b.String()
}

// comparedWith compares the choice with the baseline, in words.
func (g Goal) comparedWith(always, chosen *Result) string {
	switch {
	case chosen.Policy == policy.Always.String() && g == Balanced:
		return " Holding newcomers back costs more here than that."
	case chosen.Policy == policy.Always.String():
	case always.Writes > 0 && always.OriginBytes > 0:
		return fmt.Sprintf(" Against always it avoids %.1f%% of the writes; hit ratio %s for %s, and the origin sends %s (%+.1f%%).",
			100*ratio(chosen.WritesAvoided, always.Writes), percent(chosen.HitRatio), percent(always.HitRatio),
			more(chosen.extraBytes), 100*ratio(chosen.extraBytes, always.OriginBytes))
	}
	return ""
}

// thirdSighting says what it saves and costs to wait for a third sighting in place of the second, with the window that fits itself
// and the largest stage that both were tried with; "" if they were not.
func thirdSighting(group *Group) string {
	of := func(p policy.Rule, stage int64) *Result {
		i := slices.IndexFunc(group.Results, func(r Result) bool { return r.rotation.fitsItself() && r.rule() == p && r.StageBytes == stage })
		if i < 0 {
			return nil
		}
		return &group.Results[i]
	}
	stages := make([]int64, 0, len(group.Results))
	for i := range group.Results {
		stages = append(stages, group.Results[i].StageBytes)
	}
	stage := slices.Max(stages)
	second, third := of(policy.Rule{Policy: policy.SecondHit}, stage), of(policy.Rule{Policy: policy.Counting, MoreThan: 2}, stage)
	if second == nil || third == nil || second.Writes == 0 {
		return ""
	}
	with := ""
	if stage > 0 {
		with = " with the stage"
	}
	return fmt.Sprintf(" Waiting for a third request (counting, more_than: 2) in place of the second%s: %+.1f%% writes, %+.2f points of hits.",
		with, 100*ratio(third.Writes-second.Writes, second.Writes), 100*(third.HitRatio-second.HitRatio))
}

// alternative says what another goal chooses: most_hits, or balanced if g is most_hits.
func (g Goal) alternative(group *Group, chosen *Result) string {
	other, why := MostHits, " Writes to memory cost nothing but a copy:"
	switch {
	case g == MostHits:
		other, why = Balanced, " Where a write costs something:"
	case group.DiskBytes > 0:
		why = " Where writes to the disk cost nothing:"
	}
	i, _ := other.choose(group.Results)
	if i < 0 {
		return ""
	}
	r := &group.Results[i]
	always := &group.Results[0]
	switch {
	case r == chosen && always.onlyBaseline && other == MostHits && always.Hits > chosen.Hits:
		return fmt.Sprintf("%s always, which --policy leaves out, has the hit ratio %s.", why, percent(always.HitRatio))
	case r == chosen:
		return fmt.Sprintf("%s --goal %s chooses the same.", why, other)
	}
	return fmt.Sprintf("%s --goal %s chooses %s, with a hit ratio of %s and %s.", why, other, r.describe(), percent(r.HitRatio), counted(r.Writes, "write"))
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
	if r.rotation.fitsItself() {
		return "window " + r.rotation.readable()
	}
	return "rotated " + r.rotation.readable()
}
