package page

import (
	"errors"
	"fmt"
	"math"
)

// MaxPoints is the largest number of points in one chart. Beyond it nobody sees
// more, and the file grows by some 100 bytes a point.
const MaxPoints = 20_000

// Kind is how the points of a chart are drawn.
type Kind int

// The kinds of chart.
const (
	Line    Kind = iota // points joined in the order of x
	Scatter             // points alone, each with its label if it has one
)

// Unit is how the values of an axis are written.
type Unit int

// The units of an axis.
const (
	Plain   Unit = iota // a number
	Bytes               // B, KiB, MiB …, the value being a count of bytes
	Percent             // a percentage, the value being a ratio: 0.5 is 50 %
	Seconds             // µs, ms, s, m and h, the value being seconds
)

// Chart is one drawing with two axes.
type Chart struct {
	// Title says what is drawn.
	Title string

	// X and Y name the axes.
	X, Y string

	Kind Kind

	// LogX and LogY make an axis logarithmic; its values must be above 0.
	LogX, LogY bool

	XUnit, YUnit Unit

	// Series are drawn in this order, the last one on top. Without a single
	// point the chart says that there is nothing to show.
	Series []Series
}

// Series is one curve, or the points of one kind.
type Series struct {
	// Name is its entry in the legend.
	Name string

	// X and Y are of one length and finite. In a Line chart X must rise from
	// point to point.
	X, Y []float64

	// Labels name the points of a Scatter chart; nil, or one for each point.
	Labels []string
}

// check returns what keeps the chart from being drawn.
func (c *Chart) check() error {
	if c.Kind != Line && c.Kind != Scatter {
		return fmt.Errorf("no kind of chart has the number %d", c.Kind)
	}
	for _, u := range [...]Unit{c.XUnit, c.YUnit} {
		if u < Plain || u > Seconds {
			return fmt.Errorf("no unit has the number %d", u)
		}
	}
	points := 0
	for _, s := range c.Series {
		if err := c.checkSeries(s); err != nil {
			return fmt.Errorf("series %q: %w", s.Name, err)
		}
		points += len(s.X)
	}
	if points > MaxPoints {
		return fmt.Errorf("%d points, must be at most %d", points, MaxPoints)
	}
	return nil
}

func (c *Chart) checkSeries(s Series) error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("%d values of x and %d of y", len(s.X), len(s.Y))
	}
	if len(s.Labels) != 0 {
		if c.Kind != Scatter {
			return errors.New("labels are for points of a scatter chart")
		}
		if len(s.Labels) != len(s.X) {
			return fmt.Errorf("%d labels for %d points", len(s.Labels), len(s.X))
		}
	}
	for i := range s.X {
		if err := checkValue(s.X[i], c.LogX); err != nil {
			return fmt.Errorf("x of point %d: %w", i+1, err)
		}
		if err := checkValue(s.Y[i], c.LogY); err != nil {
			return fmt.Errorf("y of point %d: %w", i+1, err)
		}
		if c.Kind == Line && i > 0 && s.X[i] <= s.X[i-1] {
			return fmt.Errorf("x of point %d: %v after %v, must be a rising x in a line", i+1, s.X[i], s.X[i-1])
		}
	}
	return nil
}

// checkValue refuses what has no place on an axis.
func checkValue(v float64, log bool) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is not a finite number", v)
	case log && v <= 0:
		return fmt.Errorf("%v on a logarithmic axis, must be a value above 0", v)
	}
	return nil
}
