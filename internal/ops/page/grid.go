package page

import (
	"cmp"
	"slices"
)

// grid is a chart as uPlot wants it: one rising list of x and, for each series,
// a list of y of the same length, with nil where a series has no point. Row i
// of the chart's table is index i of the lists, which is how the script finds
// the words for a point.
type grid struct {
	Kind   string       `json:"kind"`
	X      axis         `json:"x"`
	Y      axis         `json:"y"`
	Series []string     `json:"series"`
	Xs     []float64    `json:"xs"`
	Ys     [][]*float64 `json:"ys"`
	Labels []string     `json:"labels,omitempty"` // labels of a scatter chart, one for each x
}

type axis struct {
	Label string `json:"label"`
	Unit  string `json:"unit"`
	Log   bool   `json:"log"`
}

// gridOf lays the points of c out; c has passed check. The second result is the
// table of the same points.
func gridOf(c *Chart) (grid, Table) {
	g := grid{
		X:  axis{Label: c.X, Unit: c.XUnit.name(), Log: c.LogX},
		Y:  axis{Label: c.Y, Unit: c.YUnit.name(), Log: c.LogY},
		Xs: []float64{}, Ys: make([][]*float64, len(c.Series)), Series: make([]string, len(c.Series)),
	}
	for i, s := range c.Series {
		g.Series[i] = s.Name
	}
	if c.Kind == Scatter {
		return g.scatter(c)
	}
	return g.lines(c)
}

// lines gives every distinct x one row.
func (g grid) lines(c *Chart) (grid, Table) {
	g.Kind = "line"
	for _, s := range c.Series {
		g.Xs = append(g.Xs, s.X...)
	}
	slices.Sort(g.Xs)
	g.Xs = slices.Compact(g.Xs)
	t := Table{Columns: []Column{{Name: c.X, Numeric: true}}, Rows: make([][]string, len(g.Xs))}
	for i, x := range g.Xs {
		t.Rows[i] = make([]string, 1+len(c.Series))
		t.Rows[i][0] = c.XUnit.Format(x)
	}
	for n, s := range c.Series {
		t.Columns = append(t.Columns, Column{Name: s.Name, Numeric: true})
		g.Ys[n] = make([]*float64, len(g.Xs))
		at := 0
		for i, x := range s.X {
			for g.Xs[at] != x {
				at++
			}
			g.Ys[n][at] = &s.Y[i]
			t.Rows[at][n+1] = c.YUnit.Format(s.Y[i])
		}
	}
	return g, t
}

// scatter gives every point one row, the labels first: points with the same x
// stay apart.
func (g grid) scatter(c *Chart) (grid, Table) {
	type point struct{ series, at int }
	g.Kind = "scatter"
	var points []point
	for n, s := range c.Series {
		for i := range s.X {
			points = append(points, point{n, i})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Compare(c.Series[a.series].X[a.at], c.Series[b.series].X[b.at])
	})
	for n := range g.Ys {
		g.Ys[n] = make([]*float64, len(points))
	}
	t := Table{Columns: []Column{{Name: "Series"}, {Name: "Point"}, {Name: c.X, Numeric: true}, {Name: c.Y, Numeric: true}}}
	for row, p := range points {
		s, label := c.Series[p.series], ""
		if len(s.Labels) != 0 {
			label = s.Labels[p.at]
		}
		g.Xs = append(g.Xs, s.X[p.at])
		g.Ys[p.series][row] = &s.Y[p.at]
		g.Labels = append(g.Labels, label)
		t.Rows = append(t.Rows, []string{s.Name, label, c.XUnit.Format(s.X[p.at]), c.YUnit.Format(s.Y[p.at])})
	}
	return g, t
}
