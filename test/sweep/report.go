package main

import (
	"fmt"
	"strings"

	"edgeproxy/internal/admission/policy"
)

// report shows what became of each length, as Markdown, and which the rule picks: of second-hit, of all rules of
// counting together, for which it picks, and of each of these.
func report(rows []row, choose func([]verdict) verdict) string {
	var b strings.Builder
	b.WriteString("| rule | sightings for each object held | at least | points below the best | worst | there | writes, of those of always | |\n|---|--:|--:|--:|--:|---|--:|---|\n")
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
			fmt.Fprintf(&b, "| %s | %d | %d | %.2f | %.2f | %s %g %%, stage %g %% | %.1f %% | %s |\n", name, v.length.PerObject*times, v.length.Least*times,
				v.mean, v.worst, v.at.trace, v.at.share, v.at.stage, 100*v.writes, mark)
		}
	}
	section(policy.SecondHit.String(), 1, rules()[0])
	section("counting, for each of more_than", 1, counting...)
	for _, r := range counting {
		section(name(r), awaited(r), r)
	}
	return b.String()
}
