package textbook

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

// Halved three times, a filter holds every key it held, has the very bits of
// one that was made so, and errs as the formula for its size says.
func TestHalvingLosesNoKey(t *testing.T) {
	const n, queries = 5000, 300_000
	keys := hashes(61, n)
	f := func(p Params) {
		t.Helper()
		filter := setTo(p, keys)
		for halvings := range 4 {
			if halvings > 0 {
				half, err := filter.Halved()
				if err != nil {
					t.Fatal(err)
				}
				p.Cells, p.Folds = p.Cells/2, p.Folds+1
				filter = half
			}
			for _, h := range keys {
				if !filter.Has(h[0], h[1]) {
					t.Fatalf("%+v after %d halvings: key %x is lost", p, halvings, h)
				}
			}
			if diff := cmp.Diff(setTo(p, keys).image(), filter.image()); diff != "" {
				t.Errorf("%+v: array against a fresh one (-want +got):\n%s", p, diff)
			}
			if filter.Params() != p || filter.Keys() < n*99/100 || filter.Keys() > n {
				t.Errorf("got %+v and %d keys, want %+v and about %d", filter.Params(), filter.Keys(), p, n)
			}
			counted(t, "halved", &filter.array)
			near(t, "fill", filter.Fill(), ExpectedFill(p.Cells, p.Probes, n), 0.02)
			near(t, "rate", measure(62, queries, filter.Has), ExactRate(p.Cells, p.Probes, n), 0.1)
		}
	}
	f(Params{Cells: 1 << 16, Probes: 4})
	f(Params{Cells: 8 * 12_505, Probes: 3}) // no row ends with a word
	f(Params{Cells: 1 << 16, Probes: 4, Rule: bloom.RuleDouble})
	f(Params{Cells: 1 << 16, Probes: 4, Rule: bloom.RuleSquare, Seed: 3})
}

func TestHalvingAPartitionedHalvesEveryRow(t *testing.T) {
	const n, queries = 5000, 300_000
	keys := hashes(63, n)
	f := func(p Params) {
		t.Helper()
		filter := NewPartitionedWith(p)
		for _, h := range keys {
			filter.Add(h[0], h[1])
		}
		for range 3 {
			half, err := filter.Halved()
			if err != nil {
				t.Fatal(err)
			}
			filter = half
			p.Cells, p.Folds = p.Cells/2, p.Folds+1
			fresh := NewPartitionedWith(p)
			for _, h := range keys {
				fresh.Add(h[0], h[1])
				if !filter.Has(h[0], h[1]) {
					t.Fatalf("%+v: key %x is lost", p, h)
				}
			}
			if diff := cmp.Diff(fresh.image(), filter.image()); diff != "" {
				t.Errorf("%+v: array against a fresh one (-want +got):\n%s", p, diff)
			}
			counted(t, "halved", &filter.array)
			near(t, "rate", measure(64, queries, filter.Has), ExactPartitionedRate(p.Cells, p.Probes, n), 0.1)
		}
	}
	f(Params{Cells: 1 << 15, Probes: 4})
	f(Params{Cells: 8 * 4_003, Probes: 3}) // rows begin in the middle of words
}

// A halved filter goes on as one: what is added to it is found, and it merges
// with filters that were halved as often.
func TestAHalvedFilterIsStillAFilter(t *testing.T) {
	keys := hashes(65, 200)
	p := Params{Cells: 1 << 12, Probes: 5}
	half, err := setTo(p, keys[:100]).Halved()
	if err != nil {
		t.Fatal(err)
	}
	other, err := setTo(p, keys[100:]).Halved()
	if err != nil {
		t.Fatal(err)
	}
	if err := half.Union(other); err != nil {
		t.Fatal(err)
	}
	late := hashes(66, 1)[0]
	half.Add(late[0], late[1])
	for _, h := range append(keys, late) {
		if !half.Has(h[0], h[1]) {
			t.Fatalf("key %x: got lost, want there", h)
		}
	}
	var mismatch *MismatchError
	if err := half.Union(setTo(p, nil)); !errors.As(err, &mismatch) {
		t.Errorf("union with one that was not halved: got error %v, want a *MismatchError", err)
	}
	// Half the cells are not enough: the walk was made for another number.
	if err := half.Union(NewFilter(p.Cells/2, p.Probes)); !errors.As(err, &mismatch) || mismatch.Param != "folds" {
		t.Errorf("union with a fresh one of the same size: got error %v, want one of folds", err)
	}
}

func TestHalvedLeavesTheFilterAlone(t *testing.T) {
	f := setTo(Params{Cells: 256, Probes: 3}, hashes(67, 10))
	image := f.image()
	half, err := f.Halved()
	if err != nil {
		t.Fatal(err)
	}
	half.Clear()
	if diff := cmp.Diff(image, f.image()); diff != "" {
		t.Errorf("array (-want +got):\n%s", diff)
	}
}

func TestHalvedRefusesWhatHasNoHalves(t *testing.T) {
	f := func(cells uint64) {
		t.Helper()
		_, one := NewFilter(cells, 3).Halved()
		_, rows := NewPartitioned(cells, 3).Halved()
		for _, err := range []error{one, rows} {
			var option *bloom.OptionError
			if !errors.As(err, &option) || option.Option != "cells" || option.Value != cells {
				t.Errorf("%d cells: got error %v, want an *OptionError for them", cells, err)
			}
		}
	}
	f(1001)
	f(bloom.MinCells)
	f(2*bloom.MinCells - 2)
}
