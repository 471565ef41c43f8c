package main

import "edgeproxy/internal/page"

// maxMarks bounds the points of a curve: beyond it a page grows, and shows no more.
const maxMarks = 100

// track is what one policy's counts were on the way, as the curves show it.
type track struct {
	name     string
	looks    []counts // requests rise from one to the next
	tally    *tally
	lookCost lookCost
}

// newTrack takes looks in the order of time, the last one being the end. Of those
// between which no request was counted the later one is the truer.
func newTrack(name string, looks []counts, t *tally, cost lookCost) track {
	out := track{name: name, tally: t, lookCost: cost}
	for _, c := range looks {
		n := len(out.looks)
		if n > 0 && c.requests <= out.looks[n-1].requests {
			out.looks = out.looks[:n-1]
		}
		out.looks = append(out.looks, c)
	}
	return out
}

// marks are the numbers of requests that the points of all curves stand at, from 0
// to the whole trace, so that the policies can be compared at each. There are no
// more than the policy with the fewest looks was looked at.
func marks(tracks []track, requests int64) []float64 {
	n := maxMarks
	for i := range tracks {
		n = min(n, len(tracks[i].looks)-1)
	}
	n = max(n, 1)
	out := make([]float64, n+1)
	for i := range out {
		out[i] = float64(requests) * float64(i) / float64(n)
	}
	return out
}

// around returns the last look at or before a mark, and the first after it; at the
// ends both are the same.
func (t *track) around(mark float64) (before, after *counts) {
	i := 0
	for i < len(t.looks) && float64(t.looks[i].requests) <= mark {
		i++
	}
	return &t.looks[max(i-1, 0)], &t.looks[min(i, len(t.looks)-1)]
}

// at returns a count at a mark: on the straight line between the looks around it.
func (t *track) at(mark float64, count func(*counts) int64) float64 {
	a, b := t.around(mark)
	from, to := float64(count(a)), float64(count(b))
	if a.requests == b.requests {
		return from
	}
	share := (mark - float64(a.requests)) / float64(b.requests-a.requests)
	return from + min(max(share, 0), 1)*(to-from)
}

// sum is the curve of a count.
func (t *track) sum(marks []float64, count func(*counts) int64) page.Series {
	s := page.Series{Name: t.name}
	for _, m := range marks {
		s.X = append(s.X, m)
		s.Y = append(s.Y, t.at(m, count))
	}
	return s
}

// share is the curve of part ÷ whole between one mark and the next, at the later
// one. Where whole did not grow there is no point.
func (t *track) share(marks []float64, part, whole func(*counts) int64) page.Series {
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

// state is the curve of what a filter was at the last look before each mark. value
// returns nil where there is nothing to show.
func (t *track) state(what string, marks []float64, value func(*filterState) *float64) page.Series {
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

// generations is the most generations that a filter had.
func (t *track) generations() (n int) {
	for i := range t.looks {
		if f := t.looks[i].filter; f != nil {
			n = max(n, len(f.fills))
		}
	}
	return n
}
