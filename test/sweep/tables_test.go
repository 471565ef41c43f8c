package main

import (
	"testing"

	"edgeproxy/internal/lab/workload"
	"edgeproxy/internal/test/testkit"
)

// The tables are what comes out today: of the traces all rows, of the models those of
// one size without a stage.
func TestTheTablesComeOutAgain(t *testing.T) {
	testkit.Slow(t, "it plays millions of requests")
	testkit.Plain(t, "it has one goroutine, which takes long under the detector")
	traces := testkit.Trace(t, "")
	tables := map[bool][]row{false: committed(t, multiplesFile), true: committed(t, floorsFile)}
	for _, w := range workloads() {
		t.Run(w.Name, func(t *testing.T) {
			r, err := load(t.Context(), w, traces)
			if err != nil {
				t.Fatal(err)
			}
			for small, rows := range tables {
				compare(t, w, r, rows, small)
			}
		})
	}
}

func compare(t *testing.T, w workload.Workload, r requests, rows []row, small bool) {
	t.Helper()
	const modelShare = 5 // percent
	for i := range rows {
		want := &rows[i]
		if want.trace != w.Name || w.Model() && (want.share != modelShare || want.stage != 0) {
			continue
		}
		got, err := *want, error(nil)
		got.requests = int64(len(r.Accesses))
		if got.outcome, err = r.play(want.cell, want.length); err != nil {
			t.Fatal(err)
		}
		if got != *want {
			t.Errorf("small %v: got %s, want %s", small, got.line(), want.line())
		}
	}
}
