package spans

import "sync"

// queueBytes is how much of encoded spans waits to be sent: some four thousand. As much again
// may be on its way.
const queueBytes = 2 << 20

// queue holds encoded spans between the requests, which add, and the sender, which takes all of
// them at once.
type queue struct {
	limit  int
	urgent chan struct{} // holds one: the sender need not wait for more

	mu      sync.Mutex
	ready   sync.Cond // signalled when take has something to return
	pending []byte    // whole spans
	spans   int       // in pending
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit, urgent: make(chan struct{}, 1)}
	q.ready.L = &q.mu
	return q
}

// add adds s, or reports false where there is no room, or nobody sends any more.
func (q *queue) add(s *Span) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	before := len(q.pending)
	if q.pending = appendSpan(q.pending, s); len(q.pending) > q.limit {
		q.pending = q.pending[:before]
		return false
	}
	q.spans++
	if len(q.pending) >= q.limit/4 {
		q.hurry()
	}
	q.ready.Signal()
	return true
}

// take waits for spans, or the end, and returns all there are. spare becomes the memory of those
// to come.
func (q *queue) take(spare []byte) (encoded []byte, spans int, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pending) == 0 && !q.closed {
		q.ready.Wait()
	}
	encoded, spans = q.pending, q.spans
	q.pending, q.spans = spare[:0], 0
	return encoded, spans, q.closed
}

// close lets no more in, and reports whether that is new.
func (q *queue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.closed = true
	q.hurry()
	q.ready.Signal()
	return true
}

// hurry ends the sender's wait for more, or its next one.
func (q *queue) hurry() {
	select {
	case q.urgent <- struct{}{}:
	default:
	}
}
