package main

// outcome is what became of a test. The words are the suite's.
type outcome string

const (
	pass       outcome = "pass"       // required, optimal
	fail       outcome = "fail"       // required
	suboptimal outcome = "suboptimal" // optimal
	yes        outcome = "yes"        // check
	no         outcome = "no"         // check
	setup      outcome = "setup"      // a request that was to prepare the test did not do its part
	retry      outcome = "retry"      // the origin saw a request twice
	harness    outcome = "harness"    // a request took too long
	dependency outcome = "dependency" // a test it depends on does not hold
	untested   outcome = "untested"   // not played
)

// valid tells the outcomes that a test of this kind can have.
func (o outcome) valid(k kind) bool {
	switch o {
	case pass:
		return k == required || k == optimal
	case fail:
		return k == required
	case suboptimal:
		return k == optimal
	case yes, no:
		return k == check
	case setup, retry, harness, dependency:
		return true
	case untested:
		return false
	}
	return false
}

// holds says whether tests that depend on this one count.
func (o outcome) holds() bool { return o == pass || o == yes }

// result is a test with its outcome.
type result struct {
	id      string
	group   string
	kind    kind
	outcome outcome
	needs   string // outcome dependency: the test at the root of it
	why     string // the suite's own words, for people
}

// score gives every test its outcome, in the catalogue's order. A dependency
// that is no test here counts as one that holds.
func score(tests []test, answers map[string]answer) []result {
	s := scorer{tests: map[string]test{}, answers: answers, done: map[string]result{}}
	for _, t := range tests {
		s.tests[t.ID] = t
	}
	out := make([]result, 0, len(tests))
	for _, t := range tests {
		out = append(out, s.of(t))
	}
	return out
}

type scorer struct {
	tests   map[string]test
	answers map[string]answer
	done    map[string]result
}

func (s *scorer) of(t test) result {
	if r, ok := s.done[t.ID]; ok {
		return r
	}
	r := result{id: t.ID, group: t.Group, kind: t.Kind, outcome: dependency, needs: t.ID}
	s.done[t.ID] = r // tests that depend on each other never hold
	a, played := s.answers[t.ID]
	r.outcome, r.needs = untested, ""
	if played {
		r.outcome, r.needs = s.judge(t, a)
		if !a.held {
			r.why = a.name + ": " + a.message
		}
	}
	s.done[t.ID] = r
	return r
}

// judge looks at the dependencies first, as the suite does.
func (s *scorer) judge(t test, a answer) (o outcome, needs string) {
	for _, id := range t.DependsOn {
		d, ok := s.tests[id]
		if !ok {
			continue
		}
		switch r := s.of(d); {
		case r.outcome == dependency:
			return dependency, r.needs
		case !r.outcome.holds():
			return dependency, id
		}
	}
	return a.outcome(t.Kind), ""
}
