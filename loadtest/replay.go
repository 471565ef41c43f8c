package main

import (
	"strconv"

	"edgeproxy/internal/lab/trace"
)

// object is one object of the trace: its request target and its size.
type object struct {
	target string
	bytes  int64 // the largest size seen for it
}

// replay is a trace prepared for sending: each object has a unique target that the
// proxy will store.
type replay struct {
	*trace.Trace
	name    string
	objects []object // the index is the number in the trace
	mapped  int      // objects with a generated target, because theirs would not be stored
}

// newReplay prepares a trace that was read with its keys.
func newReplay(name string, t *trace.Trace) *replay {
	r := &replay{Trace: t, name: name, objects: make([]object, len(t.Objects()))}
	n := targetNames{taken: make(map[string]struct{}, len(r.objects))}
	for i, o := range t.Objects() {
		_, logged := t.Key(uint32(i)) // hosts are ignored
		r.objects[i] = object{target: n.name(logged), bytes: o.Size}
	}
	r.mapped = n.mapped
	return r
}

func (r *replay) largest() (n int64) {
	for i := range r.objects {
		n = max(n, r.objects[i].bytes)
	}
	return n
}

// targetNames gives every key a unique target. A key whose target is taken gets a
// generated one: hosts are not replayed, so two hosts may have the same target.
type targetNames struct {
	taken  map[string]struct{}
	mapped int
	next   int // number of the last generated target
}

// name must be called once for each key.
func (n *targetNames) name(logged string) string {
	target, plain := requestTarget(logged)
	if _, taken := n.taken[target]; taken || !plain {
		target = n.generated()
	}
	n.taken[target] = struct{}{}
	return target
}

func (n *targetNames) generated() string {
	n.mapped++
	for {
		n.next++
		target := "/mapped/" + strconv.Itoa(n.next)
		if _, taken := n.taken[target]; !taken {
			return target
		}
	}
}
