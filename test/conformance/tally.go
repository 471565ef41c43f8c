package main

import "fmt"

// share is how many of so many tests hold.
type share struct{ holding, total int }

// String leaves out what is not there.
func (s share) String() string {
	if s.total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", s.holding, s.total)
}

// tally is a share for each kind.
type tally map[kind]share

func (t tally) add(r result) {
	s := t[r.kind]
	s.total++
	if r.outcome.holds() {
		s.holding++
	}
	t[r.kind] = s
}

// groupTally is the tally of one group of tests.
type groupTally struct {
	group string
	tally tally
}

// count adds up results by group, in the order in which groups appear, and in all.
func count(results []result) (groups []groupTally, all tally) {
	at := map[string]int{}
	all = make(tally)
	for _, r := range results {
		i, ok := at[r.group]
		if !ok {
			i = len(groups)
			at[r.group] = i
			groups = append(groups, groupTally{group: r.group, tally: make(tally)})
		}
		groups[i].tally.add(r)
		all.add(r)
	}
	return groups, all
}
