package main

import (
	"runtime"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/proxy"
)

// status is the document of GET /status.
type status struct {
	Node      string         `json:"node"`
	Version   string         `json:"version"`
	Go        string         `json:"go"`
	Started   time.Time      `json:"started"`
	Uptime    float64        `json:"uptime_seconds"`
	Ready     bool           `json:"ready"`
	Addresses []string       `json:"addresses"`
	Requests  proxy.Status   `json:"requests"`
	Cache     cacheStatus    `json:"cache"`
	Filters   []filterStatus `json:"filters"`
}

type cacheStatus struct {
	Objects    int64            `json:"objects"`
	Bytes      int64            `json:"bytes"`
	MaxBytes   int64            `json:"max_bytes"`
	Writes     int64            `json:"writes"`
	WriteBytes int64            `json:"write_bytes"`
	Evictions  map[string]int64 `json:"evictions"`
	Purged     int64            `json:"purged"`
}

type filterStatus struct {
	Name               string           `json:"name"`
	Generations        []generation     `json:"generations"`
	FalsePositiveRatio float64          `json:"false_positive_ratio_expected"`
	WindowSeconds      float64          `json:"window_seconds"`
	WindowKeys         int64            `json:"window_keys"`
	Bytes              int64            `json:"bytes"`
	Rotations          map[string]int64 `json:"rotations"`
}

type generation struct {
	FillRatio float64 `json:"fill_ratio"`
	Keys      int64   `json:"keys"`
	Age       float64 `json:"age_seconds"`
}

func (e *edge) status() any {
	now := time.Now()
	s := status{
		Node: e.config.Node.Name, Version: versionName(), Go: runtime.Version(),
		Started: e.started.UTC().Round(time.Millisecond), Uptime: now.Sub(e.started).Seconds(), Ready: e.ready.Load(),
		Addresses: e.addresses(), Requests: e.proxy.Status(), Cache: statusOfCache(e.store.Stats()), Filters: []filterStatus{},
	}
	for _, f := range e.gate.Stats(now) {
		s.Filters = append(s.Filters, statusOfFilter(f, now))
	}
	return s
}

func statusOfCache(c cache.Stats) cacheStatus {
	return cacheStatus{
		Objects: c.Objects, Bytes: c.Bytes, MaxBytes: c.MaxBytes, Writes: c.Writes, WriteBytes: c.WriteBytes, Purged: c.Purged,
		Evictions: map[string]int64{"capacity": c.Capacity, "rejected": c.Rejected, "variants": c.Variants},
	}
}

func statusOfFilter(f admission.FilterStats, now time.Time) filterStatus {
	s := filterStatus{
		Name: f.Name, FalsePositiveRatio: f.FalsePositiveRatio, WindowSeconds: f.Window.Seconds(), WindowKeys: f.Keys,
		Bytes: f.Bytes, Rotations: map[string]int64{"time": f.Rotations.Time, "full": f.Rotations.Full},
	}
	for _, g := range f.Generations {
		s.Generations = append(s.Generations, generation{g.FillRatio, g.Keys, now.Sub(g.Start).Seconds()})
	}
	return s
}
