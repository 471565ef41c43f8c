package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/ops/page"
)

// maxCurves is the largest number of curves in a chart that can still be read.
const maxCurves = 8

// Page returns the report as a page of one file; name is what the requests were
// read from.
func (r *Report) Page(name string) *page.Page {
	out := &page.Page{Title: "edgeproxy simulate: " + name, Lead: r.facts() + "." + r.notice()}
	if note := r.fleetNote(); note != "" {
		out.Lead += "\nThe fleet: " + note + "."
	}
	for _, a := range r.Advice {
		out.Sections = append(out.Sections, page.Section{
			Heading: "Recommended at " + sizes(a.CapacityBytes, a.DiskBytes), Text: a.Why, Code: a.YAML, Bars: r.bars(&a),
		})
	}
	for _, u := range r.Unadvised {
		out.Sections = append(out.Sections, page.Section{Heading: "Nothing is recommended at " + sizes(u.CapacityBytes, u.DiskBytes), Text: u.Why + "."})
	}
	out.Sections = append(out.Sections, r.curves()...)
	columns := r.columns()[1:] // the heading has the capacity
	for i := range r.Groups {
		out.Sections = append(out.Sections, r.section(&r.Groups[i], columns))
	}
	out.Sections = append(out.Sections, page.Section{Heading: "What the columns mean", Text: r.legend()})
	return out
}

// bars draws the writes of what a recommends, and of always.
func (r *Report) bars(a *Advice) []page.Bar {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.CapacityBytes != a.CapacityBytes || g.DiskBytes != a.DiskBytes || !slices.ContainsFunc(g.Results, func(x Result) bool { return x.Recommended }) {
			continue
		}
		always := &g.Results[0]
		most := max(always.Writes, a.Result.Writes, 1)
		bar := func(name string, x *Result, marked bool) page.Bar {
			return page.Bar{
				Name: name, Share: float64(x.Writes) / float64(most), Marked: marked,
				Text: fmt.Sprintf("%s writes; %.1f %% hits", humanize.Comma(x.Writes), 100*x.HitRatio),
			}
		}
		return []page.Bar{bar("always", always, false), bar("recommended", &a.Result, true)}
	}
	return nil
}

// section shows the settings of one group, drawn and as a table.
func (r *Report) section(g *Group, columns []column) page.Section {
	table := &page.Table{Mark: "on the front: nothing here has both fewer writes and more byte hits"}
	for _, c := range columns {
		table.Columns = append(table.Columns, page.Column{Name: c.name, Numeric: !c.left})
	}
	table.Rows = g.rows(columns)[1:]
	for i := range g.Results {
		table.Marked = append(table.Marked, g.Results[i].Pareto)
	}
	return page.Section{
		Heading: fmt.Sprintf("%s, %s", sizes(g.CapacityBytes, g.DiskBytes), g.Eviction),
		Text:    g.title() + ".",
		Chart:   g.scatter(),
		Table:   table,
	}
}

// scatter draws writes against byte hit ratio.
func (g *Group) scatter() *page.Chart {
	front := page.Series{Name: "on the front"}
	other := page.Series{Name: "the others"}
	chosen := page.Series{Name: "recommended"}
	for i := range g.Results {
		r := &g.Results[i]
		s := &other
		switch {
		case r.Recommended:
			s = &chosen
		case r.Pareto:
			s = &front
		}
		s.X = append(s.X, float64(r.Writes))
		s.Y = append(s.Y, r.ByteHitRatio)
		s.Labels = append(s.Labels, r.label)
	}
	return &page.Chart{
		Title: "Byte hit ratio and what it takes in writes: better is higher and further left",
		X:     "writes", Y: "byte hit ratio", Kind: page.Scatter, YUnit: page.Percent,
		Series: []page.Series{other, front, chosen},
	}
}

// curve is one way to set up a cache, at several capacities.
type curve struct {
	name   string
	points []*Result
	marks  int // how often it is recommended or on the front
}

// curves draws the hit ratios by capacity, for each eviction, disk and object limit of
// which there are several.
func (r *Report) curves() []page.Section {
	type kind struct {
		eviction    string
		disk, limit int64
	}
	var kinds []kind
	groups := map[kind][]*Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		k := kind{g.Eviction, g.DiskBytes, g.limit}
		if groups[k] == nil {
			kinds = append(kinds, k)
		}
		groups[k] = append(groups[k], g)
	}
	var out []page.Section
	for _, k := range kinds {
		if len(groups[k]) > 1 {
			name := k.eviction
			if k.disk > 0 {
				name += ", disk " + size(k.disk)
			}
			out = append(out, curvesSection(name, groups[k]))
		}
	}
	return out
}

// curvesSection draws the groups, which differ in their capacity alone.
func curvesSection(name string, groups []*Group) page.Section {
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(a.CapacityBytes, b.CapacityBytes) })
	all := groupCurves(groups)
	// Always first, then those that are most often recommended or on the front.
	slices.SortStableFunc(all[1:], func(a, b *curve) int { return cmp.Compare(b.marks, a.marks) })
	shown := all[:min(len(all), maxCurves)]
	text := "Rotations in multiples of c and stages in percent grow with the capacity."
	if len(shown) < len(all) {
		text += fmt.Sprintf(" Of %d curves these are always and the %d that are most often on the front.", len(all), len(shown)-1)
	}
	chart := &page.Chart{
		Title: "Hit ratio by capacity", X: "capacity", Y: "hit ratio", Kind: page.Line, LogX: true, XUnit: page.Bytes, YUnit: page.Percent,
	}
	for _, c := range shown {
		s := page.Series{Name: c.name}
		for _, p := range c.points {
			s.X = append(s.X, float64(p.CapacityBytes))
			s.Y = append(s.Y, p.HitRatio)
		}
		chart.Series = append(chart.Series, s)
	}
	return page.Section{Heading: "Hit ratio by capacity, " + name, Text: text, Chart: chart}
}

// groupCurves returns the results of all groups as curves, always first.
func groupCurves(groups []*Group) []*curve {
	var out []*curve
	for _, g := range groups {
		for i := range g.Results {
			r := &g.Results[i]
			at := slices.IndexFunc(out, func(c *curve) bool { return c.name == r.label })
			if at < 0 {
				at = len(out)
				out = append(out, &curve{name: r.label})
			}
			c := out[at]
			if n := len(c.points); n > 0 && c.points[n-1].CapacityBytes == r.CapacityBytes {
				continue // two values asked for are the same capacity
			}
			c.points = append(c.points, r)
			if r.Pareto || r.Recommended {
				c.marks++
			}
		}
	}
	return out
}
