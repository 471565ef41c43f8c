package model

// Result returns the counters of the whole fleet, after the last request. Hits are requests that no edge asked the origin for,
// each counted once. Fills, writes, what is held back and what is evicted are those of all edges, and of responses of other edges
// too, so
//
//	OriginRequests + responses of other edges = (Writes - Promotions) + HeldBack + TooLarge + HeadMisses
//
// Regret is of requests to the origin alone. FilterBytes, WindowObjects and WindowRoom are the most of one edge, Rotations the
// fewest.
func (f *FleetRun) Result() Result {
	if len(f.batch) > 0 {
		f.play()
	}
	out := f.extra
	out.Rotations = f.edges[0].Result().Rotations
	var errs mistakes
	for _, e := range f.edges {
		r := e.Result()
		out.add(&r)
		out.Rotations = min(out.Rotations, r.Rotations)
		out.WindowObjects, out.WindowRoom = max(out.WindowObjects, r.WindowObjects), max(out.WindowRoom, r.WindowRoom)
		out.FilterBytes = max(out.FilterBytes, r.FilterBytes)
		if e.window != nil && e.window.filter != nil {
			errs.add(&e.window.filter.mistakes)
		}
	}
	out.HitRatio = ratio(out.Hits, out.Requests)
	out.ByteHitRatio = ratio(out.HitBytes, out.RequestBytes)
	out.WriteAmplification = ratio(out.DiskWriteBytes, out.WriteBytes)
	errs.report(&out)
	return out
}

// add adds the counters of o. What is no sum is left as it is.
func (r *Result) add(o *Result) {
	r.Requests += o.Requests
	r.RequestBytes += o.RequestBytes
	r.Hits += o.Hits
	r.HitBytes += o.HitBytes
	r.Writes += o.Writes
	r.WriteBytes += o.WriteBytes
	r.HeldBack += o.HeldBack
	r.HeldBackBytes += o.HeldBackBytes
	r.Regret += o.Regret
	r.RegretBytes += o.RegretBytes
	r.TooLarge += o.TooLarge
	r.HeadMisses += o.HeadMisses
	r.OriginRequests += o.OriginRequests
	r.OriginBytes += o.OriginBytes
	r.StageWrites += o.StageWrites
	r.StageWriteBytes += o.StageWriteBytes
	r.Promotions += o.Promotions
	r.DiskHits += o.DiskHits
	r.DiskHitBytes += o.DiskHitBytes
	r.DiskWriteBytes += o.DiskWriteBytes
	r.DiskRewrittenBytes += o.DiskRewrittenBytes
	r.MemoryWrites += o.MemoryWrites
	r.MemoryWriteBytes += o.MemoryWriteBytes
	r.Objects += o.Objects
	r.Evictions += o.Evictions
	r.StoresNeverHit += o.StoresNeverHit
}
