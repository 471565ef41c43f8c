package main

import (
	"fmt"
	"strings"
)

// report shows what became of each length, as Markdown, and which the rule picks.
func report(rows []row, choose func([]verdict) verdict) string {
	var b strings.Builder
	b.WriteString("| policy | sightings for each object held | at least | worst, points below the best | there | writes, of those of always | |\n|---|--:|--:|--:|---|--:|---|\n")
	for _, policy := range []string{secondHit, counting} {
		tried := judge(rows, policy)
		chosen := choose(tried)
		for _, v := range tried {
			mark := ""
			if v == chosen {
				mark = "chosen"
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %.2f | %s %g %% | %.1f %% | %s |\n", policy, v.length.PerObject, v.length.Least,
				v.worst, v.at.trace, v.at.share, 100*v.writes, mark)
		}
	}
	return b.String()
}
