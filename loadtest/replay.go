package main

import (
	"strconv"

	"edgeproxy/internal/trace"
)

// object is one thing that is asked for: what to send, and how long it is.
type object struct {
	target string
	bytes  int64 // the largest size seen for it
}

// replay is a trace made fit for sending: each object has a target of its own
// that the proxy will store.
type replay struct {
	*trace.Trace
	name    string
	objects []object // by number in the trace
	mapped  int      // objects under a made-up target, as theirs would not be stored
}

// newReplay takes a trace that was read with its keys.
func newReplay(name string, t *trace.Trace) *replay {
	r := &replay{Trace: t, name: name, objects: make([]object, len(t.Objects()))}
	n := targetNames{taken: make(map[string]struct{}, len(r.objects))}
	for i, o := range t.Objects() {
		_, logged := t.Key(uint32(i)) // all hosts are one here
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

// targetNames gives every key a target that no other has: the one that comes
// later gets a made-up one. As hosts are not replayed, the same target of a second
// host is such a case.
type targetNames struct {
	taken  map[string]struct{}
	mapped int
	next   int // number of the next made-up target to try
}

// name must be called once for each key.
func (n *targetNames) name(logged string) string {
	target, plain := requestTarget(logged)
	if _, taken := n.taken[target]; taken || !plain {
		target = n.madeUp()
	}
	n.taken[target] = struct{}{}
	return target
}

func (n *targetNames) madeUp() string {
	n.mapped++
	for {
		n.next++
		target := "/mapped/" + strconv.Itoa(n.next)
		if _, taken := n.taken[target]; !taken {
			return target
		}
	}
}
