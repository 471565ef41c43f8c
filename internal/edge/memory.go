package edge

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
	// memoryBase is an estimate of the memory beside cache, filters and bodies in
	// transit: code, connections' buffers, metrics.
	memoryBase = 48 << 20

	// cgroupEvery is the interval at which the cgroup's limit is read again: a container may
	// be resized while it runs.
	cgroupEvery = time.Minute
)

// LimitMemory sets Go's soft memory limit (GOMEMLIMIT) to what the edges of this process may
// hold, or to 90 % of the cgroup's limit if that is less. It does nothing if the operator has
// set GOMEMLIMIT. Without a limit the garbage collector would let the heap grow to twice the
// cache before it runs. The limit follows the cgroup's, and more_than, until stop is called. stop is never
// nil. The limit is that of the whole process: call it once, with all edges of the process.
func LimitMemory(log *slog.Logger, edges ...*Edge) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	cgroup, most := cgroupMemory(), mostMemory(edges)
	limit := softLimit(most, cgroup)
	debug.SetMemoryLimit(limit)
	log.Debug("memory limit", "bytes", limit)
	if limit < most {
		log.Info("memory limit is lowered to fit the cgroup", "bytes", limit, "cgroup", cgroup, "settings", most)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		followCgroup(ctx, cgroupEvery, limit, func() int64 { return softLimit(mostMemory(edges), cgroupMemory()) }, func(now int64) {
			debug.SetMemoryLimit(now)
			log.Info("memory limit follows a change of the cgroup's limit or of the settings", "bytes", now, "settings", mostMemory(edges))
		})
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// mostMemory returns what the edges may hold, and what the process takes beside them, in bytes.
func mostMemory(edges []*Edge) int64 {
	most := int64(memoryBase)
	for _, e := range edges {
		most += e.memoryBytes()
	}
	return most
}

// followCgroup calls limit at the interval every, and set whenever the result changes. It
// returns when ctx ends.
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
// limit. The other 10 % is for memory that Go's limit does not cover: pages of the program's
// file, and the kernel's memory for connections.
func softLimit(most, cgroup int64) int64 {
	if cgroup == 0 {
		return most
	}
	return min(most, cgroup/10*9)
}

// cgroupMemory returns the memory limit of this process's cgroup in bytes; 0 if there is none or
// it cannot be read.
func cgroupMemory() int64 {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}

// memoryBytes returns the most memory that the cache, bodies in transit, bodies pinned by clients, filters, shadow
// policies, counts by host and URL, and the disk tier take. It adds a fifth to the cache, for garbage that is not
// collected yet, and a quarter to bodies in transit, for request bodies.
func (e *Edge) memoryBytes() int64 {
	l := &e.config.Limits
	bodies := l.InflightBytes + max(l.InflightBytes/4, l.RequestBuffer) + e.config.Pinned()
	return int64(float64(e.config.Cache.Memory.MaxBytes)*1.2) + bodies +
		e.gate.MostBytes() + e.shadow.Bytes() + e.topBytes() + e.diskMemory()
}

// topBytes returns the memory of the counts by host and URL.
func (e *Edge) topBytes() int64 {
	if t := e.proxy.Top(); t != nil {
		return t.MemoryBytes()
	}
	return 0
}
