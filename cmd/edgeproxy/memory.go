package main

import (
	"log/slog"
	"os"
	"runtime/debug"
)

// memoryBase is what the process takes beside cache, filters and bodies on their
// way: code, connections' buffers, metrics.
const memoryBase = 48 << 20

// limitMemory sets the soft limit of the Go heap (GOMEMLIMIT) from what the
// edges of this process may hold, unless the operator has set one: without it
// the collector would let the heap grow to twice the cache before it works.
func limitMemory(log *slog.Logger, edges ...*edge) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(memoryBase)
	for _, e := range edges {
		limit += e.memoryBytes()
	}
	debug.SetMemoryLimit(limit)
	log.Debug("memory limit", "bytes", limit)
}

// memoryBytes is the most that cache, bodies on their way, bodies that clients pin, filters
// and shadow policies take. A fifth is added to the cache, for garbage that the collector has
// not freed yet. A quarter is added to bodies on their way, for the bodies of requests.
func (e *edge) memoryBytes() int64 {
	l := &e.config.Limits
	bodies := l.InflightBytes + max(l.InflightBytes/4, l.RequestBuffer) + e.config.Pinned()
	return int64(float64(e.config.Cache.Memory.MaxBytes)*1.2) + int64(bodies) +
		e.gate.MostBytes() + e.shadow.Bytes()
}
