package main

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// memoryBase is what the process takes beside cache, filters and bodies on their
	// way: code, connections' buffers, metrics.
	memoryBase = 48 << 20

	// cgroupEvery is how often the limit of the cgroup is read again: a container may be
	// resized while it runs.
	cgroupEvery = time.Minute
)

// limitMemory sets the soft limit of Go's memory (GOMEMLIMIT) to what the edges of this
// process may hold, or to 90 % of what the cgroup allows where that is less, unless the
// operator has set one. Without a limit the collector would let the heap grow to twice the
// cache before it works. The limit follows the cgroup's until stop is called, which is never
// nil.
func limitMemory(log *slog.Logger, edges ...*edge) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	most := int64(memoryBase)
	for _, e := range edges {
		most += e.memoryBytes()
	}
	cgroup := cgroupMemory()
	limit := softLimit(most, cgroup)
	debug.SetMemoryLimit(limit)
	log.Debug("memory limit", "bytes", limit)
	if limit < most {
		log.Info("memory limit is the cgroup's", "bytes", limit, "cgroup", cgroup, "settings", most)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		followCgroup(ctx, cgroupEvery, limit, func() int64 { return softLimit(most, cgroupMemory()) }, func(now int64) {
			debug.SetMemoryLimit(now)
			log.Info("memory limit has changed with the cgroup's", "bytes", now, "settings", most)
		})
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// followCgroup calls set whenever limit, asked every so often, returns another number than
// before. It returns when ctx ends.
func followCgroup(ctx context.Context, every time.Duration, before int64, limit func() int64, set func(int64)) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if now := limit(); now != before {
				before = now
				set(now)
			}
		}
	}
}

// softLimit returns the lesser of most and 90 % of cgroup, in bytes. A cgroup of 0 has no
// limit. The tenth that is left is for what Go's limit does not hold: pages of the program's
// file, and the kernel's own memory for connections.
func softLimit(most, cgroup int64) int64 {
	if cgroup == 0 {
		return most
	}
	return min(most, cgroup/10*9)
}

// cgroupMemory returns how many bytes the cgroup of this process allows it; 0 is no limit, or
// none that can be read.
func cgroupMemory() int64 {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}

// memoryBytes is the most that cache, bodies on their way, bodies that clients pin, filters,
// shadow policies, counts by host and URL and the disk tier take. A fifth is added to the cache, for garbage that the collector has
// not freed yet. A quarter is added to bodies on their way, for the bodies of requests.
func (e *edge) memoryBytes() int64 {
	l := &e.config.Limits
	bodies := l.InflightBytes + max(l.InflightBytes/4, l.RequestBuffer) + e.config.Pinned()
	return int64(float64(e.config.Cache.Memory.MaxBytes)*1.2) + int64(bodies) +
		e.gate.MostBytes() + e.shadow.Bytes() + e.topBytes() + e.diskMemory()
}

// topBytes is what counts by host and URL take now.
func (e *edge) topBytes() int64 {
	if t := e.proxy.Top(); t != nil {
		return t.MemoryBytes()
	}
	return 0
}
