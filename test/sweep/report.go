package main

import (
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/figures"
)

// report shows what became of each length, as Markdown, and which the rule picks: of second-hit, of all rules of
// counting together, for which it picks, and of each of these.
func report(rows []row, choose func([]verdict) verdict) string {
	var t figures.Table
	t.Row("rule", "sightings for each object held", "at least", "points below the best", "worst", "there", "writes, of those of always", "")
	counting := rules()[1:]
	section := func(name string, times int64, rules ...policy.Rule) {
		tried := judge(rows, rules...)
		chosen := choose(tried)
		for i := range tried {
			v := &tried[i]
			mark := ""
			if *v == chosen {
				mark = "best"
			}
			t.Rowf("%s\t%d\t%d\t%.2f\t%.2f\t%s %g %%, stage %g %%\t%.1f %%\t%s", name, v.length.PerObject*times, v.length.Least*times,
				v.mean, v.worst, v.at.trace, v.at.share, v.at.stage, 100*v.writes, mark)
		}
	}
	section(policy.SecondHit.String(), 1, rules()[0])
	section("counting, for each of more_than", 1, counting...)
	for _, r := range counting {
		section(name(r), awaited(r), r)
	}
	return t.Markdown("|---|--:|--:|--:|--:|---|--:|---|")
}
