package lines

import (
	"io"
	"sync"
)

// queue holds encoded lines. Requests add lines, and one writer takes all of them at
// once. It is bounded in bytes, not in lines, because clients choose the length of a
// line.
type queue struct {
	limit  int
	urgent chan struct{} // capacity 1; a value ends the writer's wait for more lines

	mu      sync.Mutex
	ready   sync.Cond      // signalled when take has something to return
	pending []byte         // whole lines, each with its line feed
	next    io.WriteCloser // the file to change to; nil: none
	cut     int            // pending[cut:] belongs to next
	closed  bool
	dropped uint64
	failed  uint64
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit, urgent: make(chan struct{}, 1)}
	q.ready.L = &q.mu
	return q
}

// batch is what the writer takes at once.
type batch struct {
	lines []byte
	next  io.WriteCloser // nil: stay with the file; otherwise lines[cut:] go there
	cut   int
	last  bool // nothing comes after this batch
}

// Write adds one whole line, or drops and counts it. It never fails.
func (q *queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	first, urgent := false, false
	if q.closed || len(line) > q.limit-len(q.pending) {
		q.dropped++
	} else {
		first = len(q.pending) == 0
		q.pending = append(q.pending, line...)
		urgent = len(q.pending) >= q.limit/4
	}
	q.mu.Unlock()
	if first {
		q.ready.Signal()
	}
	if urgent {
		q.wakeWriter()
	}
	return len(line), nil
}

// take waits for lines, a new file or the end, and returns all of them. spare
// becomes the buffer for later lines.
func (q *queue) take(spare []byte) batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pending) == 0 && q.next == nil && !q.closed {
		q.ready.Wait()
	}
	b := batch{lines: q.pending, next: q.next, cut: q.cut, last: q.closed}
	if b.next == nil {
		b.cut = len(b.lines)
	}
	q.pending, q.next, q.cut = spare[:0], nil, 0
	return b
}

// switchTo directs later lines to next. It returns the file that is no longer
// needed: next itself if the queue is closed, an earlier next that the writer has
// not used yet, or nil.
func (q *queue) switchTo(next io.WriteCloser) (unused io.Closer, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return next, false
	}
	if q.next != nil {
		unused = q.next
	} else {
		q.cut = len(q.pending)
	}
	q.next = next
	q.wakeWriter()
	q.ready.Signal()
	return unused, true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wakeWriter()
	q.ready.Signal()
}

// wakeWriter ends the writer's wait for more lines. If it is not waiting, it skips its next wait.
func (q *queue) wakeWriter() {
	select {
	case q.urgent <- struct{}{}:
	default:
	}
}

// drop counts one line as dropped.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped++
}

// fail counts one failed write and the lines lost with it.
func (q *queue) fail(lines int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed++
	q.dropped += uint64(lines)
}

func (q *queue) counts() (dropped, failed uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped, q.failed
}
