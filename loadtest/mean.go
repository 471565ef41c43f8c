package main

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// meanReport returns the report of several runs of one plan: the means of the figures, all
// warnings, and the curves of the first run.
func meanReport(docs []*document) *document {
	out := *docs[0]
	if len(docs) == 1 {
		return &out
	}
	out.Run.Runs = len(docs)
	out.Results, out.Warnings, out.tracks = nil, []string{}, nil
	for i := range docs[0].Results {
		var same []*result
		for _, d := range docs {
			for j := range d.Results {
				if d.Results[j].Policy == docs[0].Results[i].Policy {
					same = append(same, &d.Results[j])
				}
			}
		}
		if len(same) == len(docs) { // else one of its runs was left out, with a warning
			out.Results = append(out.Results, meanOf(same))
			out.tracks = append(out.tracks, docs[0].tracks[i])
		}
	}
	for i, d := range docs {
		for _, w := range d.Warnings {
			out.Warnings = append(out.Warnings, fmt.Sprintf("run %d: %s", i+1, w))
		}
	}
	return &out
}

// meanOf returns the mean of the results of one policy. What is the same in all of them stays as it is. Counts are rounded. A figure
// that one result lacks is nil in the mean.
func meanOf(rs []*result) result {
	out := *rs[0]
	for i := range reflect.TypeFor[result]().NumField() {
		field := func(r *result) reflect.Value { return reflect.ValueOf(r).Elem().Field(i) }
		differs := func(r *result) bool { return !reflect.DeepEqual(field(r).Interface(), field(rs[0]).Interface()) }
		if !slices.ContainsFunc(rs, differs) {
			continue
		}
		mean := field(&out)
		if mean.Kind() == reflect.Pointer {
			if mean.SetZero(); slices.ContainsFunc(rs, func(r *result) bool { return field(r).IsNil() }) {
				continue
			}
			mean.Set(reflect.New(mean.Type().Elem()))
			mean = mean.Elem()
		}
		sum := 0.0
		for _, r := range rs {
			if v := reflect.Indirect(field(r)); v.CanInt() {
				sum += float64(v.Int())
			} else {
				sum += v.Float()
			}
		}
		if sum /= float64(len(rs)); mean.CanInt() {
			mean.SetInt(int64(math.Round(sum)))
		} else {
			mean.SetFloat(sum)
		}
	}
	return out
}
