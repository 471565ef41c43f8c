// Command chart draws what reports of the load test say of writes, as one SVG for light and dark pages:
//
//	chart TITLE=REPORT.json... >savings.svg
//
// For each report, in the order of the command line, it draws one bar for what stores everything, one for nginx with min_uses 2, if
// the report has it, and one for edgeproxy as it ships. The length of a bar is the share of the writes of the first. The hit ratio
// stands beside it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"edgeproxy/internal/lab/command"
)

func main() { command.Main(run) }

func run(_ context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Code("chart", draw(args, stdout), stderr)
}

// draw writes the chart of the reports that args name.
func draw(args []string, w io.Writer) error {
	if len(args) == 0 {
		return command.Usagef("no report: name each as TITLE=REPORT.json")
	}
	groups := make([]group, 0, len(args))
	for _, arg := range args {
		title, file, ok := strings.Cut(arg, "=")
		if !ok || title == "" {
			return command.Usagef("%q must be TITLE=REPORT.json", arg)
		}
		bars, err := read(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		groups = append(groups, group{title, bars})
	}
	_, err := io.WriteString(w, svg(groups))
	return err
}

// group is the bars of one report.
type group struct {
	title string
	bars  []bar
}

// bar is one program's result in one report.
type bar struct {
	name   string
	ours   bool    // it is edgeproxy as it ships
	writes int64   // bodies written
	share  float64 // writes, as a share of those of the first bar of its group
	hits   float64 // hit ratio, 0 to 1
}

// shown are the results that are drawn, by the policy of the report, in order.
var shown = [...]struct {
	policy, name  string
	ours, mayLack bool
}{
	{policy: "always", name: "stores everything"},
	{policy: "nginx-min-uses-2", name: "nginx, min_uses 2", mayLack: true},
	{policy: "second-hit", name: "edgeproxy", ours: true},
}

// read returns the bars of the report in file.
func read(file string) ([]bar, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report struct {
		Results []struct {
			Policy   string  `json:"policy"`
			Writes   int64   `json:"writes"`
			HitRatio float64 `json:"hit_ratio"`
		} `json:"results"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("must be a report of the load test (--json-file): %w", err)
	}
	var bars []bar
	for _, s := range shown {
		found := false
		for _, r := range report.Results {
			if r.Policy == s.policy {
				bars = append(bars, bar{name: s.name, ours: s.ours, writes: r.Writes, hits: r.HitRatio})
				found = true
			}
		}
		if !found && !s.mayLack {
			return nil, fmt.Errorf("has no result of %s", s.policy)
		}
	}
	if bars[0].writes <= 0 {
		return nil, fmt.Errorf("%s wrote nothing: there is nothing to compare with", shown[0].policy)
	}
	for i := range bars {
		bars[i].share = float64(bars[i].writes) / float64(bars[0].writes)
	}
	return bars, nil
}
