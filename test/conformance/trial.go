package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// againAtMost is how many tests are played a second time before an error is believed.
// More than that is no accident of timing.
const againAtMost = 40

// trial is the suite with a rig for each policy.
type trial struct {
	suite   *suite
	rigs    []*rig
	request request // what every run has in common
}

// play runs tests under each policy, at the same time: the suite mostly waits.
func (t *trial) play(ctx context.Context, ids []string) ([][]result, error) {
	q := t.request
	q.IDs = ids
	out := make([][]result, len(t.rigs))
	errs := make([]error, len(t.rigs))
	var all sync.WaitGroup
	for i, r := range t.rigs {
		all.Go(func() { out[i], errs[i] = r.play(ctx, q) })
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// all plays every test, and plays again what would be an error.
func (t *trial) all(ctx context.Context, expected []result, stdout io.Writer) ([][]result, error) {
	first, err := t.play(ctx, t.suite.ids())
	if err != nil {
		return nil, err
	}
	doubtful := doubts(expected, first)
	if len(doubtful) == 0 || len(doubtful) > againAtMost {
		return first, nil
	}
	ids, err := t.suite.closure(doubtful)
	if err != nil {
		return nil, err
	}
	second, err := t.play(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("play %d tests again: %w", len(doubtful), err)
	}
	for i, r := range t.rigs {
		settle(stdout, r.policy.name, first[i], second[i], doubtful)
	}
	return first, nil
}

// doubts lists the tests that are lost under some policy, and those on which
// policies differ.
func doubts(expected []result, outcomes [][]result) []string {
	var out []string
	for _, results := range outcomes {
		for _, c := range compare(expected, results).lost {
			out = append(out, c.is.id)
		}
		d := compare(outcomes[0], results)
		out = append(out, d.differing()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// settle replaces the results of the doubtful tests by those of the second time and says
// which changed.
func settle(w io.Writer, policy string, first, second []result, doubtful []string) {
	again := byID(second)
	for i, r := range first {
		if !slices.Contains(doubtful, r.id) {
			continue
		}
		s := again[r.id]
		if s.outcome != r.outcome {
			fmt.Fprintf(w, "played again under %s: %s: %s, then %s\n", policy, r.id, r.outcome, s.outcome)
		}
		first[i] = s
	}
}

// Close stops every rig and waits for it.
func (t *trial) Close() error {
	var errs []error
	for _, r := range t.rigs {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
