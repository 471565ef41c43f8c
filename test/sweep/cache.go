package main

import (
	"edgeproxy/internal/fit"
	"edgeproxy/internal/trace"
)

// none is no object.
const none = ^uint32(0)

// lru is a cache of objects that evicts the least recently used.
type lru struct {
	objects []trace.Object
	links   []link
	newest  uint32
	oldest  uint32
	bytes   int64
	count   int64
	most    int64 // bytes
}

// link is an object's place in the order of use.
type link struct {
	newer, older uint32
	held         bool
}

func newLRU(objects []trace.Object, most int64) *lru {
	return &lru{objects: objects, links: make([]link, len(objects)), newest: none, oldest: none, most: most}
}

// space is the bytes that object i takes.
func (c *lru) space(i uint32) int64 { return c.objects[i].Size + fit.EntryBytes }

// hit reports whether i is held, and counts its use.
func (c *lru) hit(i uint32) bool {
	if !c.links[i].held {
		return false
	}
	c.remove(i)
	c.push(i)
	return true
}

func (c *lru) held() (objects, bytes int64) { return c.count, c.bytes }

// fits reports whether i is small enough to be stored: a quarter of the cache, as
// in the proxy.
func (c *lru) fits(i uint32) bool { return c.objects[i].Size <= c.most/4 }

// store puts in i, which fits and is not held.
func (c *lru) store(i uint32) {
	for c.bytes+c.space(i) > c.most {
		c.remove(c.oldest)
	}
	c.push(i)
}

func (c *lru) push(i uint32) {
	c.links[i] = link{newer: none, older: c.newest, held: true}
	if c.newest == none {
		c.oldest = i
	} else {
		c.links[c.newest].newer = i
	}
	c.newest = i
	c.bytes += c.space(i)
	c.count++
}

func (c *lru) remove(i uint32) {
	l := c.links[i]
	if l.newer == none {
		c.newest = l.older
	} else {
		c.links[l.newer].older = l.older
	}
	if l.older == none {
		c.oldest = l.newer
	} else {
		c.links[l.older].newer = l.newer
	}
	c.links[i] = link{}
	c.bytes -= c.space(i)
	c.count--
}
