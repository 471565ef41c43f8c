package simulate

import "time"

// report puts the results together, marked and with the advice.
func (r *run) report() *Report {
	out := &Report{Trace: r.trace.Facts()}
	for _, a := range r.trace.Objects() {
		out.largest = max(out.largest, a.Size)
	}
	if r.trace.HasTimes() {
		out.Span = time.Duration(r.span.last - r.span.first)
	}
	for _, g := range r.groups {
		out.Groups = append(out.Groups, r.group(g))
	}
	out.advise()
	return out
}

func (r *run) group(g *group) Group {
	out := Group{
		CapacityBytes: g.bytes, CapacityShare: g.capacity.share(), CachedObjects: g.cached,
		MaxObjectBytes: g.maxObject, Eviction: string(g.eviction), limit: g.limit,
	}
	for i := range g.points {
		out.Results = append(out.Results, r.result(g, &g.points[i]))
	}
	out.Results[0].unasked = g.hidden
	always := out.Results[0]
	for i := range out.Results {
		res := &out.Results[i]
		res.WritesAvoided = always.Writes - res.Writes
		res.WriteBytesAvoided = always.WriteBytes - res.WriteBytes
		res.extra = res.OriginBytes - always.OriginBytes
	}
	markPareto(out.Results)
	return out
}

func (r *run) result(g *group, p *point) Result {
	m := &p.result
	out := Result{
		Policy: p.Policy.String(), MoreThan: p.MoreThan,
		CapacityBytes: p.CapacityBytes, StageBytes: p.StageBytes, Eviction: string(p.Eviction),
		Requests: m.Requests, Hits: m.Hits, HitRatio: m.HitRatio, ByteHitRatio: m.ByteHitRatio,
		Writes: m.Writes, WriteBytes: m.WriteBytes, HeldBack: m.HeldBack, Regret: m.Regret,
		OriginRequests: m.OriginRequests, OriginBytes: m.OriginBytes, FalsePositiveRatio: m.FalsePositiveRatio,
		MaxObjectBytes: g.maxObject, StageWrites: m.StageWrites, Promotions: m.Promotions,
		Evictions: m.Evictions, StoresNeverHit: m.StoresNeverHit, rounds: m.Rotations, asked: p.asked,
	}
	if p.busy > 0 {
		out.RequestsPerSecond = float64(m.Requests) / p.busy.Seconds()
	}
	if windowed(p.Policy) {
		out.windowed, out.rotation, out.keys = true, p.rotation, r.keys(p)
		out.Rotate, out.Generations = p.rotation.String(), p.Generations
		if c := r.period(p.rotation); c != nil {
			out.held = c.mean()
		}
		out.Exact, out.FalsePositiveRate = p.Exact, p.FalsePositiveRate
	}
	return out
}
