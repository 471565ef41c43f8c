package main

import "edgeproxy/internal/ops/page"

// maxCurvePoints bounds the points of a curve. More would enlarge the page without showing more.
const maxCurvePoints = 100

// curveData is one policy's counts during its run, for the curves.
type curveData struct {
	name       string
	samples    []counts // their requests increase strictly
	tally      *tally
	sampleCost sampleCost
}

// newCurveData takes samples in the order of time; the last one is the end of the run. Of samples
// with the same number of requests it keeps the latest.
func newCurveData(name string, looks []counts, t *tally, cost sampleCost) curveData {
	out := curveData{name: name, tally: t, sampleCost: cost}
	for _, c := range looks {
		n := len(out.samples)
		if n > 0 && c.requests <= out.samples[n-1].requests {
			out.samples = out.samples[:n-1]
		}
		out.samples = append(out.samples, c)
	}
	return out
}

// curvePoints returns the numbers of requests at which all curves have their points, from 0
// to the whole trace. All policies have the same points, so that they can be compared. There
// are at most as many as the policy with the fewest samples has.
func curvePoints(tracks []curveData, requests int64) []float64 {
	n := maxCurvePoints
	for i := range tracks {
		n = min(n, len(tracks[i].samples)-1)
	}
	n = max(n, 1)
	out := make([]float64, n+1)
	for i := range out {
		out[i] = float64(requests) * float64(i) / float64(n)
	}
	return out
}

// around returns the last sample at or before a point, and the first after it. At the
// ends both are the same.
func (t *curveData) around(mark float64) (before, after *counts) {
	i := 0
	for i < len(t.samples) && float64(t.samples[i].requests) <= mark {
		i++
	}
	return &t.samples[max(i-1, 0)], &t.samples[min(i, len(t.samples)-1)]
}

// at returns a count at a point, interpolated linearly between the samples around it.
func (t *curveData) at(mark float64, count func(*counts) int64) float64 {
	a, b := t.around(mark)
	from, to := float64(count(a)), float64(count(b))
	if a.requests == b.requests {
		return from
	}
	share := (mark - float64(a.requests)) / float64(b.requests-a.requests)
	return from + min(max(share, 0), 1)*(to-from)
}

// sum returns the curve of a cumulative count.
func (t *curveData) sum(marks []float64, count func(*counts) int64) page.Series {
	s := page.Series{Name: t.name}
	for _, m := range marks {
		s.X = append(s.X, m)
		s.Y = append(s.Y, t.at(m, count))
	}
	return s
}

// share returns the curve of part ÷ whole between one point and the next, drawn at the later
// one. If whole did not grow there is no point.
func (t *curveData) share(marks []float64, part, whole func(*counts) int64) page.Series {
	s := page.Series{Name: t.name}
	for i := 1; i < len(marks); i++ {
		grown := t.at(marks[i], whole) - t.at(marks[i-1], whole)
		if grown <= 0 {
			continue
		}
		s.X = append(s.X, marks[i])
		s.Y = append(s.Y, (t.at(marks[i], part)-t.at(marks[i-1], part))/grown)
	}
	return s
}

// state returns the curve of a filter's value at the last sample before each point. value
// returns nil if there is nothing to show.
func (t *curveData) state(what string, marks []float64, value func(*filterState) *float64) page.Series {
	s := page.Series{Name: t.name + ", " + what}
	for _, m := range marks {
		c, _ := t.around(m)
		if c.filter == nil {
			continue
		}
		if v := value(c.filter); v != nil {
			s.X = append(s.X, m)
			s.Y = append(s.Y, *v)
		}
	}
	return s
}

// generations returns the largest number of generations that a filter had.
func (t *curveData) generations() (n int) {
	for i := range t.samples {
		if f := t.samples[i].filter; f != nil {
			n = max(n, len(f.fills))
		}
	}
	return n
}
