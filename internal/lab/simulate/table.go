package simulate

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// column is one column of the table.
type column struct {
	name string
	left bool // set flush left, else right
	cell func(r *Result) string
}

// columns returns the columns of the report. A value that all windows have in common
// gets none.
func (r *Report) columns() []column {
	comma := humanize.Comma
	out := []column{
		{"capacity", false, func(r *Result) string { return size(r.CapacityBytes) }},
		{"policy", true, policyCell},
		{"rotation", true, rotationCell},
	}
	for _, c := range []column{{"generations", false, generationsCell}, {"rate", false, rateCell}} {
		if r.vary(c.cell) {
			out = append(out, c)
		}
	}
	if r.hasDisk() {
		out = slices.Insert(out, 1, column{"disk", false, func(r *Result) string { return orDash(r.DiskBytes > 0, size(r.DiskBytes)) }})
	}
	out = append(out,
		column{"stage", false, func(r *Result) string { return orDash(r.StageBytes > 0, size(r.StageBytes)) }},
		column{"hits", false, func(r *Result) string { return percent(r.HitRatio) }},
		column{"byte hits", false, func(r *Result) string { return percent(r.ByteHitRatio) }},
		column{"writes", false, func(r *Result) string { return comma(r.Writes) }},
		column{"written", false, func(r *Result) string { return size(r.WriteBytes) }},
		column{"avoided", false, avoidedCell},
	)
	if r.hasDisk() {
		out = append(out, diskColumns()...)
	}
	out = append(out, r.peerColumns()...)
	return append(out,
		column{"extra origin", false, func(r *Result) string { return signed(r.extraBytes) }},
		column{"regret", false, func(r *Result) string { return comma(r.Regret) }},
		column{"front", true, frontCell},
	)
}

// hasDisk reports whether a disk was tried.
func (r *Report) hasDisk() bool {
	return slices.ContainsFunc(r.Groups, func(g Group) bool { return g.DiskBytes > 0 })
}

// diskColumns returns the columns for a disk.
func diskColumns() []column {
	of := func(cell func(r *Result) string) func(r *Result) string {
		return func(r *Result) string { return orDash(r.DiskBytes > 0, cell(r)) }
	}
	return []column{
		{"disk hits", false, of(func(r *Result) string { return percent(ratio(r.DiskHits, r.Requests)) })},
		{"to disk", false, of(func(r *Result) string { return size(r.DiskWriteBytes) })},
		{"less", false, of(func(r *Result) string {
			return strconv.FormatFloat(100*ratio(r.DiskWriteBytesAvoided, r.DiskWriteBytes+r.DiskWriteBytesAvoided), 'f', 1, 64) + "%"
		})},
		{"again", false, of(func(r *Result) string { return size(r.DiskRewrittenBytes) })},
		{"factor", false, of(func(r *Result) string { return strconv.FormatFloat(r.WriteAmplification, 'f', 2, 64) })},
	}
}

// vary reports whether a column has several different values; a dash is none.
func (r *Report) vary(cell func(*Result) string) bool {
	values := map[string]bool{}
	for i := range r.Groups {
		for j := range r.Groups[i].Results {
			if text := cell(&r.Groups[i].Results[j]); text != dash {
				values[text] = true
			}
		}
	}
	return len(values) > 1
}

func policyCell(r *Result) string {
	if r.onlyBaseline {
		return r.name() + " (baseline)"
	}
	return r.name()
}

func generationsCell(r *Result) string {
	return orDash(r.Generations > 0, strconv.Itoa(r.Generations))
}

func rateCell(r *Result) string {
	return orDash(r.FalsePositiveRate > 0, strconv.FormatFloat(r.FalsePositiveRate, 'g', -1, 64))
}

func rotationCell(r *Result) string { return orDash(r.windowed, r.rotation.readable()) }

// avoidedCell shows the share of always' writes that was avoided.
func avoidedCell(r *Result) string {
	always := r.Writes + r.WritesAvoided
	return orDash(always > 0, strconv.FormatFloat(100*ratio(r.WritesAvoided, always), 'f', 1, 64)+"%")
}

func frontCell(r *Result) string {
	switch {
	case r.Recommended && r.Pareto:
		return "* recommended"
	case r.Recommended:
		return "  recommended"
	case r.Pareto && r.Thin:
		return "* thin"
	case r.Thin:
		return "  thin"
	case r.Pareto:
		return "*"
	default:
		return ""
	}
}

// dash is the cell of a column that has no meaning for the setting.
const dash = "-"

func orDash(there bool, text string) string {
	if there {
		return text
	}
	return dash
}

// signed writes a difference in bytes.
func signed(bytes int64) string {
	if bytes > 0 {
		return "+" + size(bytes)
	}
	return size(bytes)
}

// rows returns the group's table, the head first.
func (g *Group) rows(columns []column) [][]string {
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.name
	}
	out := [][]string{head}
	for i := range g.Results {
		row := make([]string, len(columns))
		for j, c := range columns {
			row[j] = c.cell(&g.Results[i])
		}
		out = append(out, row)
	}
	return out
}

// writeRows writes rows with their columns aligned.
func writeRows(b *strings.Builder, columns []column, rows [][]string) {
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if columns[i].left {
				line.WriteString("  " + cell + blanks)
			} else {
				line.WriteString("  " + blanks + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
