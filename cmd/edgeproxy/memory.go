package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"slices"

	"edgeproxy/config"
)

// memoryBase is what the process takes beside cache, filters and bodies on their
// way: code, connections' buffers, metrics.
const memoryBase = 48 << 20

// limitMemory sets the soft limit of the Go heap (GOMEMLIMIT) from what the
// configuration allows, unless the operator has set one: without it the
// collector would let the heap grow to twice the cache before it works.
func limitMemory(c *config.Config, log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(float64(c.Cache.Memory.MaxBytes)*1.2) + int64(c.Limits.InflightBytes) + filterBytes(c) + memoryBase
	debug.SetMemoryLimit(limit)
	log.Debug("memory limit", "bytes", limit)
}

// filterBytes is the memory of the filters in use, by the formula of their
// sizing: at G generations of n keys each and rate F over all of them, a
// generation has n log2(1/f) / ln 2 cells with f = 1-(1-F)^(1/G).
func filterBytes(c *config.Config) int64 {
	var bits float64
	uses := func(p config.Policy) bool {
		return slices.ContainsFunc(c.Routes, func(r config.Route) bool { return r.Admission.Policy == p })
	}
	if uses(config.PolicySecondHit) {
		bits += windowCells(c.Admission.SecondHit)
	}
	if uses(config.PolicyCounting) {
		bits += 4 * windowCells(c.Admission.Counting.Window)
	}
	return int64(bits / 8)
}

func windowCells(w config.Window) float64 {
	f := 1 - math.Pow(1-w.FalsePositiveRate, 1/float64(w.Generations))
	return float64(w.Generations) * float64(w.Capacity) * -math.Log2(f) / math.Ln2
}
