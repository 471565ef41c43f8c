package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
)

// fillMemory is memory that nearly every fill needs. A fill whose response only one client gets (leaderonly.go) leaves it to the
// next fill. A copy of a job must not have it.
type fillMemory struct {
	header field.List // of the question to the origin
	fields field.List // that are forwarded
	name   []byte     // the key
	out    outcome
	entry  cache.Entry

	outTaken, entryTaken bool
}

// newOutcome returns an empty outcome.
func (r *fillMemory) newOutcome() *outcome {
	if r.outTaken {
		return &outcome{}
	}
	r.outTaken = true
	return &r.out
}

// newEntry returns an empty entry.
func (r *fillMemory) newEntry() *cache.Entry {
	if r.entryTaken {
		return &cache.Entry{}
	}
	r.entryTaken = true
	return &r.entry
}

// acquireFill returns an empty fill with memory.
func (p *Proxy) acquireFill() *fill {
	f := p.fills.Get().(*fill)
	f.p = p
	f.request = &f.asks
	return f
}

// mostListKept bounds the capacity of a list that is kept, in fields; mostNameKept that of a key, in bytes.
const (
	mostListKept = 64
	mostNameKept = 4 << 10
)

// releaseFill gives f back. Nobody may use f after that.
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
