package config

import (
	"strconv"
	"time"
)

// The greatest values of the filters' settings: a counter has four bits, and a
// larger filter would not fit into the machine.
const (
	maxMoreThan    = 14
	maxGenerations = 4
	maxCapacity    = 1_000_000_000
	maxFalseRate   = 0.5
)

// windows checks the filters, used or not.
func (v *validator) windows() {
	a := &v.c.Admission
	v.moreThan("admission.counting.more_than", a.Counting.MoreThan)
	v.window("admission.second_hit", a.SecondHit, "2.9GiB")
	v.window("admission.counting", a.Counting.Window, "13.7GiB")
}

func (v *validator) moreThan(path string, n int) {
	if (n < 1 || n > maxMoreThan) && v.sound(path) {
		v.fail(path, "want 1 to "+strconv.Itoa(maxMoreThan)+": a counter has four bits and ends at 15")
	}
}

// window checks one filter; memory is what the greatest one takes at the default
// rate and number of generations: some 12.3 bits or 59 bits of counters a key and
// generation, where f is the rate of one (Bloom 1970).
func (v *validator) window(path string, w Window, memory string) {
	if at := child(path, "generations"); w.Generations == 1 && v.sound(at) {
		v.fail(at, "want 2 to 4: a single generation is a window of no length")
	}
	v.count(child(path, "generations"), w.Generations, 2, maxGenerations)
	if at := child(path, "rotate_every"); w.RotateEvery != 0 && w.RotateEvery < time.Second && v.sound(at) {
		v.fail(at, "want at least 1s, or 0s for no bound in time")
	}
	v.capacity(child(path, "capacity"), w, memory)
	if at := child(path, "false_positive_rate"); (w.FalsePositiveRate <= 0 || w.FalsePositiveRate > maxFalseRate) && v.sound(at) {
		v.fail(at, "want more than 0 and at most 0.5")
	}
}

// capacity checks that of a fixed window; one that fits the cache has none.
func (v *validator) capacity(at string, w Window, memory string) {
	switch {
	case w.Mode == WindowAuto && v.src.given(at) && v.sound(at):
		v.fail(at, "want none beside window: auto, which works it out, or window: fixed")
	case w.Mode == WindowAuto:
	case w.Capacity > maxCapacity && v.sound(at):
		v.fail(at, "want at most "+strconv.Itoa(maxCapacity)+": that many keys take "+memory)
	default:
		v.count(at, w.Capacity, 1, maxCapacity)
	}
}

// cache checks the cache section.
func (v *validator) cache() {
	const maxBytes, maxObject = "cache.memory.max_bytes", "cache.memory.max_object_bytes"
	c := &v.c.Cache
	v.caching("cache", &c.Caching)
	v.positive("cache.collapse.wait", c.CollapseWait)
	v.atLeast(maxBytes, c.Memory.MaxBytes, MiB)
	v.atLeast(maxObject, c.Memory.MaxObjectBytes, 1)
	rest := c.Memory.MaxBytes - c.Memory.StageBytes
	if c.Memory.MaxObjectBytes <= rest/4 || !v.sound(maxBytes, maxObject, stageBytes) {
		return
	}
	switch {
	case v.src.given(maxObject):
		of := "max_bytes"
		if c.Memory.StageBytes > 0 {
			of += " less stage_bytes"
		}
		v.fail(maxObject, "want at most "+(rest/4).String()+", a quarter of "+of+": a larger object would empty the cache")
		return
	case c.Memory.StageBytes > 0 && c.Memory.MaxBytes > 4*c.Memory.MaxObjectBytes:
		v.fail(stageBytes, "want at most "+(c.Memory.MaxBytes-4*c.Memory.MaxObjectBytes).String()+", which leaves four times max_object_bytes, or a smaller max_object_bytes")
		return
	}
	v.fail(maxBytes, "want at least "+(4*c.Memory.MaxObjectBytes).String()+", four times max_object_bytes, or a smaller max_object_bytes")
}

// maxRanges keeps small what one request costs: overlaps are looked for between
// any two of its ranges.
const maxRanges = 1000

// limits checks the limits section. The least sizes are what ordinary clients
// cannot do without.
func (v *validator) limits() {
	l := &v.c.Limits
	v.headerSizes()
	v.paces()
	v.atLeast("limits.body_bytes", l.BodyBytes, 1)
	v.atLeast("limits.inflight_bytes", l.InflightBytes, 1)
	v.positive("limits.header_timeout", l.HeaderTimeout)
	v.positive("limits.read_idle", l.ReadIdle)
	v.positive("limits.write_idle", l.WriteIdle)
	v.positive("limits.upgrade_idle", l.UpgradeIdle)
	v.positive("limits.keepalive", l.Keepalive)
	v.count("limits.header_count", l.HeaderCount, 1, maxCount)
	v.count("limits.connections", l.Connections, 1, maxCount)
	v.count("limits.connections_per_address", l.PerAddress, 0, maxCount)
	v.count("limits.requests_in_flight", l.RequestsInFlight, 1, maxCount)
	v.count("limits.tunnels", l.Tunnels, 1, maxCount)
	v.count("limits.variants", l.Variants, 1, maxCount)
	v.count("limits.ranges", l.Ranges, 1, maxRanges)
	v.share("limits.origin_share", l.OriginShare)
	v.share("limits.inflight_share", l.InflightShare)
	v.readAhead()
	v.rates()
}

// share checks a part of something that one client may have.
func (v *validator) share(path string, s float64) {
	if (s <= 0 || s > 1) && v.sound(path) {
		v.fail(path, "want more than 0, and at most 1, which is off")
	}
}

// maxHeaderBytes keeps small what a connection takes: it has a buffer for a whole head.
const maxHeaderBytes = MiB

// headerSizes checks the sizes of a request's head and of the target within it.
func (v *validator) headerSizes() {
	const header, target = "limits.header_bytes", "limits.target_bytes"
	l := &v.c.Limits
	v.atLeast(header, l.HeaderBytes, KiB)
	if l.HeaderBytes > maxHeaderBytes && v.sound(header) {
		v.fail(header, "want at most "+maxHeaderBytes.String()+": each connection has a buffer of this size")
	}
	v.atLeast(target, l.TargetBytes, 64)
	if l.TargetBytes > l.HeaderBytes && v.src.given(target) && v.sound(header, target) {
		v.fail(target, "want at most header_bytes, "+l.HeaderBytes.String()+", for the target is part of the header")
	}
}
