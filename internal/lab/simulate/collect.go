package simulate

import "time"

// report returns the results, marked, with warnings and recommendations.
func (r *run) report() *Report {
	out := &Report{Trace: r.trace.Facts(), Goal: r.options.Goal, fleet: r.fleet}
	for _, a := range r.trace.Objects() {
		out.largest = max(out.largest, a.Size)
	}
	if r.trace.HasTimes() {
		out.Span = time.Duration(r.span.last - r.span.first)
	}
	for _, g := range r.groups {
		out.Groups = append(out.Groups, r.group(g))
	}
	out.warn(r.trace.Notes())
	out.advise()
	return out
}

func (r *run) group(g *group) Group {
	out := Group{
		CapacityBytes: g.bytes, CapacityShare: g.capacity.share(), CachedObjects: g.cached,
		MaxObjectBytes: g.maxObject, Eviction: string(g.eviction), limit: g.limit,
		DiskBytes: g.diskBytes, DiskShare: g.disk.share(), DiskObject: g.diskObject(),
	}
	for i := range g.points {
		out.Results = append(out.Results, r.result(g, &g.points[i]))
	}
	out.Results[0].Baseline, out.Results[0].onlyBaseline = true, g.onlyBaseline
	out.Spread = g.spread()
	always := out.Results[0]
	for i := range out.Results {
		res := &out.Results[i]
		res.WritesAvoided = always.Writes - res.Writes
		res.WriteBytesAvoided = always.WriteBytes - res.WriteBytes
		res.DiskWriteBytesAvoided = always.DiskWriteBytes - res.DiskWriteBytes
		res.extraBytes = res.OriginBytes - always.OriginBytes
	}
	markPareto(out.Results)
	return out
}

// spreadRuns is how often the baseline is run if its eviction is random.
const spreadRuns = 3

// spread compares the runs of the baseline.
func (g *group) spread() *Spread {
	if len(g.repeats) == 0 {
		return nil
	}
	low, high := g.points[0].result, g.points[0].result
	for i := range g.repeats {
		r := &g.repeats[i].result
		low.HitRatio, high.HitRatio = min(low.HitRatio, r.HitRatio), max(high.HitRatio, r.HitRatio)
		low.ByteHitRatio, high.ByteHitRatio = min(low.ByteHitRatio, r.ByteHitRatio), max(high.ByteHitRatio, r.ByteHitRatio)
		low.Writes, high.Writes = min(low.Writes, r.Writes), max(high.Writes, r.Writes)
	}
	return &Spread{
		Runs: 1 + len(g.repeats), HitRatio: high.HitRatio - low.HitRatio, ByteHitRatio: high.ByteHitRatio - low.ByteHitRatio,
		Writes: ratio(high.Writes-low.Writes, high.Writes),
	}
}

func (r *run) result(g *group, p *point) Result {
	m := &p.result
	out := Result{
		Policy: p.Policy.String(), MoreThan: p.MoreThan, Parameter: p.Value(),
		CapacityBytes: p.CapacityBytes, StageBytes: p.StageBytes, Eviction: string(p.Eviction),
		Requests: m.Requests, Hits: m.Hits, HitRatio: m.HitRatio, ByteHitRatio: m.ByteHitRatio,
		Writes: m.Writes, WriteBytes: m.WriteBytes, HeldBack: m.HeldBack, Regret: m.Regret,
		TooLarge: m.TooLarge, FilterBytes: m.FilterBytes, HeadMisses: m.HeadMisses, OriginRequests: m.OriginRequests, OriginBytes: m.OriginBytes, FalsePositiveRatio: m.FalsePositiveRatio,
		MaxObjectBytes: g.memoryObject(p.StageBytes), StageWrites: m.StageWrites, Promotions: m.Promotions,
		Evictions: m.Evictions, StoresNeverHit: m.StoresNeverHit, rotations: m.Rotations, label: p.label,
	}
	out.onDisk(p)
	if f := r.fleet; f.Nodes > 0 {
		out.Edges = &Edges{f.Nodes, string(f.Balance), string(f.Share), m.PeerRequests, m.PeerBytes}
	}
	if p.busy > 0 {
		out.RequestsPerSecond = float64(m.Requests) / p.busy.Seconds()
	}
	if p.Policy.Remembers() {
		out.windowed, out.rotation, out.keys = true, p.rotation, r.keys(p)
		out.Rotate, out.Generations = p.rotation.String(), p.Generations
		if p.Fitted {
			out.WindowObjects, out.keys = m.WindowObjects, m.WindowRoom
		}
		if c := r.period(p.rotation); c != nil {
			out.meanKeys = c.mean()
		}
		out.Exact, out.FalsePositiveRate = p.Exact, p.FalsePositiveRate
		out.filterBytes = recommendable(p.Setting).FilterBytes(out.keys)
	}
	return out
}

// onDisk copies the figures of the disk.
func (r *Result) onDisk(p *point) {
	m := &p.result
	r.DiskBytes, r.DiskHits, r.DiskHitBytes = p.DiskBytes, m.DiskHits, m.DiskHitBytes
	r.DiskWriteBytes, r.DiskRewrittenBytes, r.WriteAmplification = m.DiskWriteBytes, m.DiskRewrittenBytes, m.WriteAmplification
	r.MemoryWrites, r.MemoryWriteBytes = m.MemoryWrites, m.MemoryWriteBytes
}
