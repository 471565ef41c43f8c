package trace

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/http/wire"
)

const (
	maxObjectBytes = 1 << 40
	// hashSeed is any number but 0: with seed 0 it is easy to make keys that collide.
	hashSeed = 0x65646765_74726163
)

var errTooMany = errors.New("more objects than 32 bits can number")

// request is one line. Its bytes are valid until the next line.
type request struct {
	host, target []byte
	size         int64
	at           int64 // Unix microseconds
	timed        bool  // at is known
	head         bool  // it was a HEAD; size is 0
}

// requestCounts is how often an object was requested.
type requestCounts struct{ gets, heads int64 }

// builder collects requests into a trace.
type builder struct {
	trace      Trace
	index      index
	counts     []requestCounts // counts of each object
	maxObjects int
	hosts      map[string]string // each host once, if keys are kept
	scratch    []byte
	line       request // the current line; it is here so that lines do not allocate
	times      timeline
	heads      bool // HEADs are used

	ignoreTimes bool
}

func newBuilder(keepKeys bool) *builder {
	b := &builder{maxObjects: math.MaxUint32}
	b.trace.requests = newSpool(spoolBytes)
	b.index.grow(nil)
	if keepKeys {
		b.trace.keys = []key{}
		b.hosts = map[string]string{}
	}
	return b
}

// readSource reads a whole source.
func (b *builder) readSource(ctx context.Context, s source, m *meter) error {
	b.times.open()
	return s.feed(ctx, b, m)
}

// add records one request. It copies what it keeps of r.
func (b *builder) add(r *request) error {
	if r.timed {
		if err := b.times.advance(r.at); err != nil {
			return fmt.Errorf("after %d requests: %w", b.trace.facts.Requests, err)
		}
	}
	i, err := b.object(r)
	if err != nil {
		return err
	}
	o := &b.trace.objects[i]
	o.Size = max(o.Size, r.size)
	if r.head {
		b.counts[i].heads++
		b.trace.facts.Heads++
	} else {
		b.counts[i].gets++
	}
	b.trace.facts.Requests++
	return b.trace.requests.add(i, r.head, b.times.now-b.times.start)
}

// object returns the number of the request's object, new or not.
func (b *builder) object(r *request) (uint32, error) {
	// A host that was answered has no NUL, so two keys never have the same text.
	b.scratch = append(append(b.scratch[:0], r.host...), 0)
	n := len(b.scratch)
	b.scratch = wire.AppendNormal(b.scratch, r.target)
	h := xxh3.Hash128Seed(b.scratch, hashSeed)
	slot, i, ok := b.index.find(b.trace.objects, h.Hi, h.Lo)
	if ok {
		return i, nil
	}
	if len(b.trace.objects) >= b.maxObjects {
		return 0, errTooMany
	}
	b.trace.objects = append(b.trace.objects, Object{Hi: h.Hi, Lo: h.Lo})
	b.counts = append(b.counts, requestCounts{})
	b.index.insert(slot, b.trace.objects)
	if b.trace.keys != nil {
		b.trace.keys = append(b.trace.keys, key{host: b.host(r.host), target: string(b.scratch[n:])})
	}
	return uint32(len(b.trace.objects) - 1), nil
}

func (b *builder) host(h []byte) string {
	s, ok := b.hosts[string(h)]
	if !ok {
		s = string(h)
		b.hosts[s] = s
	}
	return s
}

// finish returns the trace, which owns the spool from then on.
func (b *builder) finish() (*Trace, error) {
	t := b.trace // a copy, so that the rest of the builder can go
	f := &t.facts
	if f.Requests == 0 {
		return nil, fmt.Errorf("no usable request (%d bad lines, %d skipped): of a log GETs and HEADs with status 200 or 304 count", f.BadLines, f.Skipped)
	}
	if err := t.requests.seal(); err != nil {
		return nil, err
	}
	f.Objects = int64(len(t.objects))
	for i, n := range b.counts {
		size := t.objects[i].Size
		f.RequestBytes += n.gets * size
		f.UniqueBytes += size
		if n.gets+n.heads == 1 {
			f.OneHitObjects++
		}
		switch {
		case n.gets == 0:
			f.HeadObjects++
		case size == 0:
			f.EmptyObjects++
		}
	}
	t.start, t.timed = b.times.start, b.times.known(f.Requests)
	t.notes.OddTimes = b.times.odd
	return &t, nil
}
