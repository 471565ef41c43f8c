package model

import (
	"math"

	"edgeproxy/internal/lab/trace"
)

// none stands for no object.
const none = math.MaxUint32

// node is one object's place in the chains. An object is in one chain at most.
type node struct {
	newer, older uint32
	at           part
	uses         uint8 // uses since it was added or moved, up to maxUses; S3-FIFO's counter
	hit          bool  // hit since it was stored
}

// part is the chain a node is in.
type part uint8

const (
	unlinked part = iota
	queue         // queue of LRU and of the stage
	small         // S3-FIFO's queues
	large
	ghost
)

// nodes has a node for each object of a trace.
type nodes struct {
	of      []node
	objects []trace.Object
}

func newNodes(objects []trace.Object) *nodes {
	return &nodes{of: make([]node, len(objects)), objects: objects}
}

// space returns the bytes object i takes: its size, but at least 1, so that empty objects do not stay forever.
func (n *nodes) space(i uint32) int64 { return max(n.objects[i].Size, 1) }

// look prefetches the nodes of the requested objects.
func (n *nodes) look(requests []trace.Access) (read uint32) {
	for _, a := range requests {
		read += n.of[a.Object].newer
	}
	return read
}

// chain is a list of objects from the newest to the oldest, through their nodes.
type chain struct {
	*nodes
	at             part
	newest, oldest uint32
	bytes          int64
	count          int64
}

func newChain(n *nodes, at part) chain {
	return chain{nodes: n, at: at, newest: none, oldest: none}
}

// push adds i, which is in no chain, as the newest.
func (c *chain) push(i uint32) {
	n := &c.of[i]
	n.at, n.newer, n.older = c.at, none, c.newest
	if c.newest == none {
		c.oldest = i
	} else {
		c.of[c.newest].newer = i
	}
	c.newest = i
	c.bytes += c.space(i)
	c.count++
}

// remove removes i, which is in this chain.
func (c *chain) remove(i uint32) {
	n := &c.of[i]
	if n.newer == none {
		c.newest = n.older
	} else {
		c.of[n.newer].older = n.older
	}
	if n.older == none {
		c.oldest = n.newer
	} else {
		c.of[n.older].newer = n.newer
	}
	n.at = unlinked
	c.bytes -= c.space(i)
	c.count--
}
