package textbook

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

// setTo returns a filter of the parameters with these keys in.
func setTo(p Params, keys [][2]uint64) *Filter {
	f := NewFilterWith(p)
	for _, h := range keys {
		f.Add(h[0], h[1])
	}
	return f
}

// image is the array as plain words.
func (a *array) image() []uint64 {
	out := make([]uint64, len(a.words))
	for i := range out {
		out[i] = a.words[i].Load()
	}
	return out
}

// counted fails the test unless what Fill counts is what is set.
func counted(t *testing.T, what string, a *array) {
	t.Helper()
	ones := 0
	for _, w := range a.image() {
		ones += bits.OnesCount64(w)
	}
	if got := a.ones.Load(); got != int64(ones) {
		t.Errorf("%s: got %d bits counted, want the %d that are set", what, got, ones)
	}
}

func TestUnionIsTheFilterOfAllKeys(t *testing.T) {
	const n = 5000
	keys := hashes(51, 3*n)
	f := func(what string, first, second [][2]uint64, distinct float64) {
		t.Helper()
		p := Params{Cells: 10*3*n + 1, Probes: 7, Seed: 5}
		got, other := setTo(p, first), setTo(p, second)
		want, kept := setTo(p, slices.Concat(first, second)).image(), other.image()
		if err := got.Union(other); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.image()); diff != "" {
			t.Errorf("%s: array (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(kept, other.image()); diff != "" {
			t.Errorf("%s: the other filter changed (-want +got):\n%s", what, diff)
		}
		counted(t, what, &got.array)
		near(t, what+": keys", float64(got.Keys()), distinct, 0.02)
	}
	f("disjoint", keys[:n], keys[n:], 3*n)
	f("half in common", keys[:2*n], keys[n:], 3*n)
	f("a subset", keys, keys[:n], 3*n)
	f("a superset", keys[:n], keys, 3*n)
	f("the same", keys, keys, 3*n)
	f("with nothing", keys, nil, 3*n)
	f("of nothing", nil, keys, 3*n)
}

func TestUnionWithItselfChangesNothing(t *testing.T) {
	f := setTo(Params{Cells: 1000, Probes: 4}, hashes(52, 50))
	image, keys := f.image(), f.Keys()
	if err := f.Union(f); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(image, f.image()); diff != "" || f.Keys() != keys {
		t.Errorf("got %d keys, want %d; array (-want +got):\n%s", f.Keys(), keys, diff)
	}
}

func TestIntersectionKeepsTheCommonKeysAndErrsNoMore(t *testing.T) {
	const n, queries = 10_000, 200_000
	keys := hashes(53, 3*n)
	p := Params{Cells: 10 * 2 * n, Probes: 7}
	got, other := setTo(p, keys[:2*n]), setTo(p, keys[n:])
	fresh := setTo(p, keys[n:2*n])
	smaller := min(measure(54, queries, got.Has), measure(54, queries, other.Has))
	if err := got.Intersect(other); err != nil {
		t.Fatal(err)
	}
	for _, h := range keys[n : 2*n] {
		if !got.Has(h[0], h[1]) {
			t.Fatalf("common key %x: got lost, want kept", h)
		}
	}
	counted(t, "intersection", &got.array)
	near(t, "keys", float64(got.Keys()), n, 0.03)
	rate := measure(54, queries, got.Has)
	if rate > smaller {
		t.Errorf("rate: got %v, want at most the smaller one's %v", rate, smaller)
	}
	near(t, "rate by the fill", rate, bloom.RateFromFill(got.Fill(), p.Probes), 0.25)

	// It keeps bits that both had by chance: those of common keys, and of the
	// rest the share that either has squared.
	common, one := ExpectedFill(p.Cells, p.Probes, n), ExpectedFill(p.Cells, p.Probes, n)
	near(t, "fill", got.Fill(), common+(1-common)*one*one, 0.01)
	more := 0
	for i, w := range got.image() {
		if fresh.words[i].Load()&^w != 0 {
			t.Fatalf("word %d: a bit of the common keys is gone", i)
		}
		more += bits.OnesCount64(w &^ fresh.words[i].Load())
	}
	if more == 0 {
		t.Error("got the very array of a fresh filter, want bits kept by chance")
	}
}

func TestIntersectionOfFullArraysHasAnEstimate(t *testing.T) {
	a, b := NewFilter(64, 1), NewFilter(64, 1)
	for _, h := range hashes(55, 1000) { // far beyond what 64 bits hold
		a.Add(h[0], h[1])
		b.Add(h[0], h[1])
	}
	if a.Fill() != 1 || b.Fill() != 1 {
		t.Fatal("want both arrays all ones")
	}
	want := min(a.Keys(), b.Keys())
	if err := a.Intersect(b); err != nil {
		t.Fatal(err)
	}
	if got := a.Keys(); got != want {
		t.Errorf("keys: got %d, want the smaller number of %d", got, want)
	}
	if err := a.Intersect(NewFilter(64, 1)); err != nil {
		t.Fatal(err)
	}
	if a.Fill() != 0 || a.Keys() != 0 {
		t.Errorf("with an empty filter: got fill %v and %d keys, want nothing", a.Fill(), a.Keys())
	}
}

func TestPartitionedUnionAndIntersection(t *testing.T) {
	const n = 2000
	keys := hashes(56, 3*n)
	p := Params{Cells: 2 * 3 * n, Probes: 7}
	build := func(keys [][2]uint64) *Partitioned {
		f := NewPartitionedWith(p)
		for _, h := range keys {
			f.Add(h[0], h[1])
		}
		return f
	}
	union := build(keys[:2*n])
	if err := union.Union(build(keys[n:])); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(build(keys).image(), union.image()); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	near(t, "keys of the union", float64(union.Keys()), 3*n, 0.02)
	both := build(keys[:2*n])
	if err := both.Intersect(build(keys[n:])); err != nil {
		t.Fatal(err)
	}
	for _, h := range keys[n : 2*n] {
		if !both.Has(h[0], h[1]) {
			t.Fatalf("common key %x: got lost, want kept", h)
		}
	}
	near(t, "keys of the intersection", float64(both.Keys()), n, 0.05)
	counted(t, "union", &union.array)
	counted(t, "intersection", &both.array)
}

// Bits of filters that differ in any parameter stand for different things.
func TestFiltersThatDifferAreNotMerged(t *testing.T) {
	base := Params{Cells: 1024, Probes: 5, Rule: bloom.RuleEnhanced, Folds: 1, Seed: 7}
	f := func(other Params, want ...string) {
		t.Helper()
		filter, rows := setTo(base, hashes(57, 10)), NewPartitionedWith(base)
		image := filter.image()
		for op, err := range map[string]error{
			"union of two filters: ":        filter.Union(NewFilterWith(other)),
			"intersection of two filters: ": filter.Intersect(NewFilterWith(other)),
			"union of two filters:  ":       rows.Union(NewPartitionedWith(other)),
			"intersection of two filters:  ": rows.Intersect(
				NewPartitionedWith(other)),
		} {
			if _, ok := errors.AsType[*MismatchError](err); !ok {
				t.Fatalf("%+v: got error %v, want a *MismatchError", other, err)
			}
			if got, want := err.Error(), strings.TrimSpace(op)+" "+strings.Join(want, "\n"); got != want {
				t.Errorf("%+v: got error %q, want %q", other, got, want)
			}
		}
		if diff := cmp.Diff(image, filter.image()); diff != "" {
			t.Errorf("%+v: the array changed (-want +got):\n%s", other, diff)
		}
	}
	with := func(change func(*Params)) Params {
		p := base
		change(&p)
		return p
	}
	f(with(func(p *Params) { p.Cells = 2048 }), "cells: 2048: must be 1024")
	f(with(func(p *Params) { p.Probes = 6 }), "probes: 6: must be 5")
	f(with(func(p *Params) { p.Rule = bloom.RuleDouble }), "rule: double: must be enhanced")
	f(with(func(p *Params) { p.Folds = 0 }), "folds: 0: must be 1")
	f(with(func(p *Params) { p.Seed = 8 }), "seed: 8: must be 7")
	f(Params{Cells: 64, Probes: 1, Rule: bloom.RuleSquare, Folds: 0, Seed: 1},
		"cells: 64: must be 1024", "probes: 1: must be 5", "rule: square: must be enhanced", "folds: 0: must be 1", "seed: 1: must be 7")
}

// Keys added to either filter before Union began are all in; Adds beside it
// lose nothing.
func TestUnionBesideAddsLosesNothing(t *testing.T) {
	const n = 4000
	keys := hashes(58, 3*n)
	p := Params{Cells: 100_000, Probes: 5}
	f, other := setTo(p, keys[:n]), setTo(p, keys[n:2*n])
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, h := range keys[2*n:] {
			f.Add(h[0], h[1])
		}
	})
	for range 4 {
		if err := f.Union(other); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	for _, h := range keys {
		if !f.Has(h[0], h[1]) {
			t.Fatalf("key %x: got lost, want there", h)
		}
	}
	counted(t, "union", &f.array)
	near(t, "keys", float64(f.Keys()), 3*n, 0.05)
}
