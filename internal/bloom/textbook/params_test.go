package textbook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

func TestParamsNameEveryFault(t *testing.T) {
	f := func(k kind, p Params, want string) {
		t.Helper()
		got := ""
		if err := p.validate(k); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v %+v: error (-want +got):\n%s", k, p, diff)
		}
	}
	f(kindFilter, Params{Cells: 64, Probes: 1}, "")
	f(kindFilter, Params{Cells: bloom.MaxCells, Probes: 64, Rule: bloom.RuleSquare, Seed: 1}, "")
	f(kindFilter, Params{Cells: bloom.MaxCells >> 20, Probes: 1, Folds: 20}, "")
	f(kindPartitioned, Params{Cells: bloom.MaxCells / 64, Probes: 64}, "")
	f(kindFilter, Params{}, "cells: 0: must be 64 to 17179869184\nprobes: 0: must be 1 to 64")
	f(kindFilter, Params{Cells: bloom.MaxCells + 1, Probes: 65, Rule: 3, Folds: -1},
		"cells: 17179869185: must be 64 to 17179869184\nprobes: 65: must be 1 to 64\nrule: 3: must be 0 to 2")
	f(kindFilter, Params{Cells: bloom.MaxCells, Probes: 1, Folds: 1}, "folds: 1: must be 0 or more, from at most 17179869184 cells")
	f(kindFilter, Params{Cells: 64, Probes: 1, Folds: 29}, "folds: 29: must be 0 or more, from at most 17179869184 cells")
	f(kindPartitioned, Params{Cells: bloom.MaxCells / 2, Probes: 3}, "probes: 3: must be rows of at most 17179869184 bits together")
}

func TestParamsAreWhatTheFilterWasMadeWith(t *testing.T) {
	want := Params{Cells: 1000, Probes: 5, Rule: bloom.RuleDouble, Folds: 2, Seed: 9}
	if got := NewFilterWith(want).Params(); got != want {
		t.Errorf("filter: got %+v, want %+v", got, want)
	}
	if got := NewPartitionedWith(want).Params(); got != want {
		t.Errorf("partitioned: got %+v, want %+v", got, want)
	}
	if got, want := NewFilter(1000, 5).Params(), (Params{Cells: 1000, Probes: 5}); got != want {
		t.Errorf("NewFilter: got %+v, want %+v", got, want)
	}
}
