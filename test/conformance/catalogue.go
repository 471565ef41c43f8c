package main

import (
	"fmt"
	"slices"
)

// kind is how much the suite makes of a test.
type kind string

const (
	required kind = "required" // the RFC asks for it
	optimal  kind = "optimal"  // a good cache does it
	check    kind = "check"    // a question about behaviour, neither right nor wrong
)

// kinds is their order in tables.
func kinds() []kind { return []kind{required, optimal, check} }

// test is one test as the suite's catalogue has it.
type test struct {
	ID        string   `json:"id"`
	Group     string   `json:"group"`
	Kind      kind     `json:"kind"`
	DependsOn []string `json:"depends_on"`
}

// catalogue is what an edition of the suite contains.
type catalogue struct {
	Edition string `json:"edition"` // npm or repository
	Version string `json:"version"`
	Tests   []test `json:"tests"`
}

// ids returns every test's id.
func (c *catalogue) ids() []string {
	out := make([]string, len(c.Tests))
	for i, t := range c.Tests {
		out[i] = t.ID
	}
	return out
}

// closure returns wanted with all tests they depend on, in the catalogue's order.
func (c *catalogue) closure(wanted []string) ([]string, error) {
	byID := map[string]test{}
	for _, t := range c.Tests {
		byID[t.ID] = t
	}
	in := map[string]bool{}
	todo := slices.Clone(wanted)
	for i := 0; i < len(todo); i++ { // it grows by a test's dependencies, for each test once
		t, ok := byID[todo[i]]
		if !ok {
			return nil, fmt.Errorf("there is no test %q in the %s edition", todo[i], c.Edition)
		}
		if in[t.ID] {
			continue
		}
		in[t.ID] = true
		for _, d := range t.DependsOn {
			if _, ok := byID[d]; ok {
				todo = append(todo, d)
			}
		}
	}
	return slices.DeleteFunc(c.ids(), func(id string) bool { return !in[id] }), nil
}
