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

// A figure that differs between runs was left as it was in the first one.
func TestMeanOfTakesEveryFigure(t *testing.T) {
	var runs []*result
	for n := range 2 {
		var r result
		for i := range reflect.TypeFor[result]().NumField() {
			f := reflect.ValueOf(&r).Elem().Field(i)
			if p := f; p.Kind() == reflect.Pointer && p.Type() != reflect.TypeFor[*forecast]() {
				p.Set(reflect.New(p.Type().Elem()))
				f = p.Elem()
			}
			if value := int64(10 * (n + 1) * (i + 1)); f.CanInt() {
				f.SetInt(value)
			} else if f.CanFloat() {
				f.SetFloat(float64(value))
			}
		}
		runs = append(runs, &r)
	}
	mean := meanOf(runs)
	for i := range reflect.TypeFor[result]().NumField() {
		f, name := reflect.Indirect(reflect.ValueOf(&mean).Elem().Field(i)), reflect.TypeFor[result]().Field(i).Name
		if want := int64(15 * (i + 1)); f.IsValid() && (f.CanInt() && f.Int() != want || f.CanFloat() && f.Float() != float64(want)) {
			t.Errorf("%s: got %v, want %d", name, f, want)
		}
	}
}
