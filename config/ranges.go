package config

import (
	"edgeproxy/internal/admission"
)

// This file checks conditions between several settings. The range of each single setting is
// in the tables.

// windows refuses a capacity with window: auto.
func (v *validator) windows() {
	for path, w := range map[string]admission.FilterOptions{"admission.second_hit": v.c.Admission.SecondHit, "admission.counting": v.c.Admission.Counting.Window} {
		if at := child(path, "capacity"); bool(w.Fitted) && v.src.given(at) && v.noErrorAt(at) {
			v.fail(at, "needs window: fixed as well, or remove it: window: auto chooses the capacity")
		}
	}
}

// cache checks the cache section.
func (v *validator) cache() {
	const maxBytes, maxObject = "cache.memory.max_bytes", "cache.memory.max_object_bytes"
	c := &v.c.Cache
	v.caching("cache", &c.Caching)
	v.disk()
	stage := max(c.Memory.StageBytes, 0) // auto leaves max_object_bytes the room that it needs
	rest := c.Memory.MaxBytes - stage
	if c.Memory.MaxObjectBytes <= rest/4 || !v.noErrorAt(maxBytes, maxObject, stageBytes) {
		return
	}
	switch {
	case v.src.given(maxObject):
		of := "max_bytes"
		if stage > 0 {
			of += " less stage_bytes"
		}
		v.fail(maxObject, "must be at most "+(rest/4).String()+", a quarter of "+of+": a larger object would push out too much of the cache")
		return
	case stage > 0 && c.Memory.MaxBytes > 4*c.Memory.MaxObjectBytes:
		v.fail(stageBytes, "must be at most "+(c.Memory.MaxBytes-4*c.Memory.MaxObjectBytes).String()+", which leaves four times max_object_bytes, or a smaller max_object_bytes")
		return
	}
	v.fail(maxBytes, "must be at least "+(4*c.Memory.MaxObjectBytes).String()+", four times max_object_bytes, or a smaller max_object_bytes")
}

// limits checks the limits section.
func (v *validator) limits() {
	const header, target = "limits.header_bytes", "limits.target_bytes"
	l := &v.c.Limits
	if l.TargetBytes > l.HeaderBytes && v.src.given(target) && v.noErrorAt(header, target) {
		v.fail(target, "must be at most header_bytes, "+Size(l.HeaderBytes).String()+": the target is part of the head")
	}
	v.pinned()
	v.readAhead()
	v.rates()
}
