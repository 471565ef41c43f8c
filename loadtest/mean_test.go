package main

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMeanReportGivesTheMeans(t *testing.T) {
	run := func(hits int64, ratio float64, regret *int64, warning string) *document {
		return &document{
			Results: []result{
				{Policy: "always", Hits: 5, HitRatio: 0.5, Evictions: new(int64(3))},
				{Policy: "second-hit", Hits: hits, HitRatio: ratio, Regret: regret, Evictions: new(hits), FalsePositiveRatio: new(ratio)},
			},
			Warnings: []string{warning}, tracks: make([]curveData, 2),
		}
	}
	got := meanReport([]*document{run(10, 0.25, new(int64(1)), "a"), run(13, 0.75, nil, "b")})
	want := []result{
		{Policy: "always", Hits: 5, HitRatio: 0.5, Evictions: new(int64(3))},
		{Policy: "second-hit", Hits: 12, HitRatio: 0.5, Evictions: new(int64(12)), FalsePositiveRatio: new(0.5)},
	}
	if diff := cmp.Diff(want, got.Results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"run 1: a", "run 2: b"}, got.Warnings); diff != "" || got.Run.Runs != 2 {
		t.Errorf("%d runs, warnings (-want +got):\n%s", got.Run.Runs, diff)
	}
}

// A proxy that is left out of one run has no mean.
func TestMeanReportLeavesOutWhatDidNotRunEachTime(t *testing.T) {
	got := meanReport([]*document{
		{Results: []result{{Policy: "always"}, {Policy: "nginx-min-uses-1"}}, tracks: make([]curveData, 2)},
		{Results: []result{{Policy: "always"}}, tracks: make([]curveData, 1)},
	})
	if len(got.Results) != 1 || len(got.tracks) != 1 || got.Results[0].Policy != "always" {
		t.Errorf("got %+v, want always alone", got.Results)
	}
}

// Every count and ratio of a result is among those that meanReport takes the mean of.
func TestMeanOfTakesEveryFigure(t *testing.T) {
	setting := map[string]bool{"CapacityBytes": true, "StageBytes": true, "Parameter": true} // the same in all runs
	var r result
	v := reflect.ValueOf(&r).Elem()
	has := map[any]bool{}
	for _, f := range resultCounts() {
		has[f(&r)] = true
	}
	for _, f := range resultRatios() {
		has[f(&r)] = true
	}
	for i := range v.NumField() {
		name, at := v.Type().Field(i).Name, v.Field(i).Addr().Interface()
		switch at.(type) {
		case *int64, *float64:
			if !has[at] && !setting[name] {
				t.Errorf("%s is left as it was in the first run", name)
			}
		}
	}
}
