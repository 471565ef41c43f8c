package model

import "edgeproxy/internal/lab/trace"

// Queue is an exact LRU by itself, or a first-in-first-out queue: a cache without a policy, for what is measured beside one. It is not safe
// for concurrent use.
type Queue struct {
	lru
	touch bool
}

// NewQueue returns an empty Queue for objects of a trace that holds at most maxBytes. With touch a hit makes an object the newest, which is LRU.
func NewQueue(objects []trace.Object, maxBytes int64, touch bool) *Queue {
	return &Queue{*newLRU(maxBytes, newNodes(objects)), touch}
}

// Hit reports whether object i is held.
func (q *Queue) Hit(i uint32) bool {
	if q.touch {
		return q.hit(i)
	}
	return q.of[i].at == queue
}

// Store adds object i, which is not held and fits alone.
func (q *Queue) Store(i uint32) { q.store(i) }
