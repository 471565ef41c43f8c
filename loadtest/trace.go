package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// object is one thing that is asked for: what to send, and how long it is.
type object struct {
	target string
	bytes  int64 // the largest size seen for it
}

// trace is a sequence of requests. It is not changed after it was built.
type trace struct {
	name    string
	objects []object
	order   []uint32 // indexes of objects, one for each request

	badLines     int // could not be understood
	skippedLines int // understood, but no GET answered with 200 or 304
	mapped       int // objects under a made-up target, as theirs would not be stored
}

// facts is what the report says about a trace; counts and bytes.
type facts struct {
	Requests      int64 `json:"requests"`
	Objects       int64 `json:"objects"`
	RequestBytes  int64 `json:"request_bytes"` // of all responses, each with its object's size
	UniqueBytes   int64 `json:"unique_bytes"`
	OneHitObjects int64 `json:"one_hit_objects"`
	BadLines      int64 `json:"bad_lines"`
}

func (t *trace) facts() facts {
	f := facts{Requests: int64(len(t.order)), Objects: int64(len(t.objects)), BadLines: int64(t.badLines)}
	times := make([]uint32, len(t.objects))
	for _, i := range t.order {
		times[i]++
		f.RequestBytes += t.objects[i].bytes
	}
	for i, n := range times {
		f.UniqueBytes += t.objects[i].bytes
		if n == 1 {
			f.OneHitObjects++
		}
	}
	return f
}

func (t *trace) largest() (n int64) {
	for i := range t.objects {
		n = max(n, t.objects[i].bytes)
	}
	return n
}

// builder collects requests into a trace. Two different keys never share a
// target: the one that comes later gets a made-up one.
type builder struct {
	trace trace
	byKey map[string]uint32
	taken map[string]struct{}
	next  int // number of the next made-up target to try
}

func newBuilder(name string) *builder {
	return &builder{trace: trace{name: name}, byKey: map[string]uint32{}, taken: map[string]struct{}{}}
}

// add records one request for key, which is copied.
func (b *builder) add(key []byte, bytes int64) {
	i, ok := b.byKey[string(key)]
	if !ok {
		i = b.object(string(key))
	}
	o := &b.trace.objects[i]
	o.bytes = max(o.bytes, bytes)
	b.trace.order = append(b.trace.order, i)
}

func (b *builder) object(key string) uint32 {
	i := uint32(len(b.trace.objects))
	target, plain := requestTarget(key)
	if _, taken := b.taken[target]; taken || !plain {
		target = b.madeUp()
	}
	b.taken[target] = struct{}{}
	b.byKey[key] = i
	b.trace.objects = append(b.trace.objects, object{target: target})
	return i
}

func (b *builder) madeUp() string {
	b.trace.mapped++
	for {
		b.next++
		target := "/mapped/" + strconv.Itoa(b.next)
		if _, taken := b.taken[target]; !taken {
			return target
		}
	}
}

func (b *builder) finish() (*trace, error) {
	t := &b.trace
	switch {
	case len(t.order) == 0:
		return nil, fmt.Errorf("%s: no usable request (%d bad lines, %d skipped)", t.name, t.badLines, t.skippedLines)
	case len(t.order) > math.MaxInt32:
		return nil, errors.New(t.name + ": over 2^31 requests; use --limit")
	}
	return t, nil
}
