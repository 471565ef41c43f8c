package main

import (
	"fmt"
	"math"
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

// meanOf returns the mean of the results of one policy. Counts are rounded. A figure
// that one result lacks is nil in the mean.
func meanOf(rs []*result) result {
	out := *rs[0]
	for _, field := range resultCounts() {
		sum := 0.0
		for _, r := range rs {
			sum += float64(*field(r))
		}
		*field(&out) = int64(math.Round(sum / float64(len(rs))))
	}
	for _, field := range resultRatios() {
		sum := 0.0
		for _, r := range rs {
			sum += *field(r)
		}
		*field(&out) = sum / float64(len(rs))
	}
	out.DeviceBytes = meanKnown(rs, func(r *result) *int64 { return r.DeviceBytes })
	out.Regret = meanKnown(rs, func(r *result) *int64 { return r.Regret })
	out.RegretBytes = meanKnown(rs, func(r *result) *int64 { return r.RegretBytes })
	out.Evictions = meanKnown(rs, func(r *result) *int64 { return r.Evictions })
	out.FalsePositiveRatio = meanRatio(rs)
	return out
}

func resultCounts() []func(*result) *int64 {
	return []func(*result) *int64{
		func(r *result) *int64 { return &r.Requests },
		func(r *result) *int64 { return &r.Hits },
		func(r *result) *int64 { return &r.Writes },
		func(r *result) *int64 { return &r.WriteBytes },
		func(r *result) *int64 { return &r.WritesAvoided },
		func(r *result) *int64 { return &r.WriteBytesAvoided },
		func(r *result) *int64 { return &r.HeldBack },
		func(r *result) *int64 { return &r.HeldBackBytes },
		func(r *result) *int64 { return &r.OriginRequests },
		func(r *result) *int64 { return &r.OriginBytes },
		func(r *result) *int64 { return &r.StageWrites },
		func(r *result) *int64 { return &r.StageWriteBytes },
		func(r *result) *int64 { return &r.Promotions },
		func(r *result) *int64 { return &r.Errors },
		func(r *result) *int64 { return &r.LateSends },
	}
}

func resultRatios() []func(*result) *float64 {
	return []func(*result) *float64{
		func(r *result) *float64 { return &r.HitRatio },
		func(r *result) *float64 { return &r.ByteHitRatio },
		func(r *result) *float64 { return &r.P50Seconds },
		func(r *result) *float64 { return &r.P99Seconds },
		func(r *result) *float64 { return &r.WorstLateSeconds },
	}
}

func meanKnown(rs []*result, field func(*result) *int64) *int64 {
	sum := 0.0
	for _, r := range rs {
		n := field(r)
		if n == nil {
			return nil
		}
		sum += float64(*n)
	}
	return new(int64(math.Round(sum / float64(len(rs)))))
}

// meanRatio returns the mean of the measured false positive ratios, nil if one is missing.
func meanRatio(rs []*result) *float64 {
	sum := 0.0
	for _, r := range rs {
		if r.FalsePositiveRatio == nil {
			return nil
		}
		sum += *r.FalsePositiveRatio
	}
	return new(sum / float64(len(rs)))
}
