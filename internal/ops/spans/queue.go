package spans

import "sync"

// queueBytes bounds the encoded spans in the queue: about four thousand. As many again may be in
// the request in progress.
const queueBytes = 2 << 20

// queue holds encoded spans. Requests add spans, and the sender takes all of them at once.
type queue struct {
	limit  int
	urgent chan struct{} // capacity 1; a value ends the sender's wait for more

	mu      sync.Mutex
	ready   sync.Cond // signalled when take has something to return
	pending []byte    // complete spans
	spans   int       // in pending
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit, urgent: make(chan struct{}, 1)}
	q.ready.L = &q.mu
	return q
}

// add adds s. It returns false if there is no room, or the queue is closed.
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

// take waits for spans, or the end, and returns all spans. spare becomes the buffer for later
// ones.
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

// close closes the queue for further spans. It returns false if the queue was closed already.
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

// hurry ends the sender's wait for more. If it is not waiting, it skips its next wait.
func (q *queue) hurry() {
	select {
	case q.urgent <- struct{}{}:
	default:
	}
}
