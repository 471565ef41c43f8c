package edge

import (
	"math"
	"strconv"
	"time"

	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/proxy"
)

// historySteps is how many steps of snapshotEvery are kept: an hour.
const historySteps = int(time.Hour / snapshotEvery)

// historyStep is what came between two snapshots. Ratios and times are NaN where there was nothing that they could be of.
type historyStep struct {
	end         int64   // Unix time
	seconds     float32 // how long it was
	results     [proxy.ResultCount]int32
	classes     [statusclass.Count]int32
	errors      int32
	saved       int32
	regret      int32
	originBytes float32
	hitRatio    float32
	byteRatio   float32
	p95         float32 // in seconds
}

// history has the steps of the last hour, in a memory of its own that does not grow. Its zero value is empty. It is not safe for concurrent use.
type history struct {
	steps [historySteps]historyStep
	count int // steps that there have been
}

// add adds what came between two snapshots, in the place of the oldest step if need be.
func (h *history) add(before, after *countSnapshot) {
	came := after.requests.Since(&before.requests)
	step := &h.steps[h.count%historySteps]
	h.count++
	*step = historyStep{
		end: after.at.Unix(), seconds: float32(after.at.Sub(before.at).Seconds()), errors: narrow(came.Errors), saved: narrow(came.Saved), regret: narrow(came.Regret),
		hitRatio: float32(came.HitRatio), byteRatio: float32(came.ByteHitRatio), p95: float32(came.P95),
	}
	for i, n := range came.Results {
		step.results[i] = narrow(n)
	}
	for i, n := range came.Classes {
		step.classes[i] = narrow(n)
	}
	for name, n := range after.bytes {
		if had, ok := before.bytes[name]; ok { // else all since the start would be of this step
			step.originBytes += float32(max(n-had, 0))
		}
	}
}

// narrow returns n, or what is nearest to it.
func narrow(n int64) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// History is the document of GET /status/history: the last hour in steps, the oldest first. Each column has a value for each step.
type History struct {
	Every       float64            `json:"every_seconds"` // the length of a step, but for delays
	End         []int64            `json:"end"`           // Unix times
	Seconds     Column             `json:"seconds"`       // the lengths as they were
	Results     map[string][]int32 `json:"results"`
	Classes     map[string][]int32 `json:"status_classes"`
	Errors      []int32            `json:"errors"` // the errors of requests.totals.lately
	HitRatio    Column             `json:"hit_ratio"`
	ByteRatio   Column             `json:"byte_hit_ratio"`
	Saved       []int32            `json:"saved"`
	Regret      []int32            `json:"regret"`
	OriginBytes Column             `json:"origin_bytes"`
	P95         Column             `json:"p95_seconds"`
}

// Column is a column whose numbers may be missing: NaN, which is null in JSON.
type Column []float32

// MarshalJSON implements json.Marshaler.
func (c Column) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+8*len(c)), '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(float64(v)) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, float64(v), 'f', -1, 32)
		}
	}
	return append(b, ']'), nil
}

// document returns the steps as columns.
func (h *history) document() *History {
	kept := min(h.count, historySteps)
	d := &History{
		Every: snapshotEvery.Seconds(), End: make([]int64, kept), Seconds: make(Column, kept), Results: map[string][]int32{}, Classes: map[string][]int32{},
		Errors: make([]int32, kept), HitRatio: make(Column, kept), ByteRatio: make(Column, kept), Saved: make([]int32, kept), Regret: make([]int32, kept),
		OriginBytes: make(Column, kept), P95: make(Column, kept),
	}
	results, classes := proxy.Results(), new(statusclass.Counts).Map()
	for _, name := range results {
		d.Results[name] = make([]int32, kept)
	}
	for name := range classes {
		d.Classes[name] = make([]int32, kept)
	}
	for i := range kept {
		s := &h.steps[(h.count-kept+i)%historySteps]
		d.End[i], d.Seconds[i], d.HitRatio[i], d.ByteRatio[i] = s.end, s.seconds, s.hitRatio, s.byteRatio
		d.Saved[i], d.Regret[i], d.OriginBytes[i], d.P95[i] = s.saved, s.regret, s.originBytes, s.p95
		d.Errors[i] = s.errors
		for r, name := range results {
			d.Results[name][i] = s.results[r]
		}
		for class := range statusclass.Class(statusclass.Count) {
			d.Classes[class.String()][i] = s.classes[class]
		}
	}
	return d
}
