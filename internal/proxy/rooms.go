package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
)

// fillMemory is memory of a fill for what nearly every fill makes. That of a fill which one client alone has (lone.go) is used
// again for another one. Whoever copies a job leaves its rooms behind.
type fillMemory struct {
	header field.List // of the question to the origin
	fields field.List // that are forwarded
	name   []byte     // the key
	out    outcome
	entry  cache.Entry

	outTaken, entryTaken bool
}

// newOutcome returns memory for an outcome.
func (r *fillMemory) newOutcome() *outcome {
	if r.outTaken {
		return &outcome{}
	}
	r.outTaken = true
	return &r.out
}

// newEntry returns memory for an entry.
func (r *fillMemory) newEntry() *cache.Entry {
	if r.entryTaken {
		return &cache.Entry{}
	}
	r.entryTaken = true
	return &r.entry
}

// acquireFill returns a fill of which nothing is set but where it has rooms.
func (p *Proxy) acquireFill() *fill {
	f := p.fills.Get().(*fill)
	f.p = p
	f.request = &f.asks
	return f
}

// mostListKept is how many fields a list may have room for that is kept, mostNameKept how many bytes a key.
const (
	mostListKept = 64
	mostNameKept = 4 << 10
)

// releaseFill gives f, which nobody knows any more, back.
func (p *Proxy) releaseFill(f *fill) {
	kept := fillMemory{header: emptied(f.asks.Header), fields: emptied(f.memory.out.fields), name: f.exact.name[:0]}
	if cap(kept.name) > mostNameKept {
		kept.name = nil
	}
	*f = fill{}
	f.memory = kept
	p.fills.Put(f)
}

// emptied returns the room of list for another one, without any of its strings.
func emptied(list field.List) field.List {
	if cap(list) > mostListKept {
		return nil
	}
	clear(list)
	return list[:0]
}
