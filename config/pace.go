package config

import (
	"time"

	"edgeproxy/internal/conn/pace"
)

func paceTable(r *pace.Rate) table {
	return table{
		live("bytes", size(&r.Bytes, KiB), "The least that a client must transfer within over; 0B is no limit."),
		live("over", duration(&r.Over, time.Minute).moreThan(0), "The time in which bytes must be transferred."),
	}
}

// maxRequestBuffer bounds the memory of one request: it has a buffer of that size.
const maxRequestBuffer = 16 * MiB

// pinned checks the limit of bodies that have left the cache and are still being sent.
func (v *validator) pinned() {
	const pinned = "limits.pinned_bytes"
	l := &v.c.Limits
	if most := int64(v.c.Cache.Memory.MaxObjectBytes); l.PinnedBytes > 0 && l.PinnedBytes < most && v.noErrorAt(pinned, "cache.memory.max_object_bytes") {
		v.fail(pinned, "must be at least max_object_bytes, "+Size(most).String()+", or 0B for a quarter of cache.memory.max_bytes: a single slow client could exceed a smaller limit")
	}
}

// minResponseBuffer is the smallest buffer with which a fetch makes progress.
const minResponseBuffer = 64 * KiB

// readAhead checks how far responses are read ahead of their clients.
func (v *validator) readAhead() {
	const buffer, spool, bytes = "limits.response_buffer", "limits.spool_path", "limits.spool_bytes"
	l := &v.c.Limits
	if most := l.InflightBytes / 4 * 3; l.ResponseBuffer > most && v.src.given(buffer) && v.noErrorAt(buffer, "limits.inflight_bytes") {
		v.fail(buffer, "must be at most "+Size(most).String()+": what is read ahead of clients takes three quarters of inflight_bytes at most")
	}
	if l.SpoolPath == "" && v.src.given(bytes) && l.SpoolBytes != withDefaults((*Limits).table).SpoolBytes && v.noErrorAt(spool, bytes) {
		v.fail(bytes, "needs limits.spool_path as well, the folder that this limits, or remove it")
	}
}

// Pinned returns PinnedBytes, or its default, a quarter of the memory tier.
func (c *Config) Pinned() int64 {
	if c.Limits.PinnedBytes > 0 {
		return c.Limits.PinnedBytes
	}
	return int64(c.Cache.Memory.MaxBytes / 4)
}

// Copies returns the limit of the copies of large bodies that are sent by sendfile: a sixteenth of the
// memory tier's size, in addition to the tier.
func (c *Config) Copies() int64 { return int64(c.Cache.Memory.MaxBytes / 16) }
