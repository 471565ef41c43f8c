package disk

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/cache/disk/layout"
)

// Why Put refuses a record.
var (
	// ErrBusy: more is waiting to be written than QueueBytes.
	ErrBusy = errors.New("disk: busy")
	// ErrRate: WriteRate is used up.
	ErrRate = errors.New("disk: write rate used up")
	// ErrTooLarge: the body is above MaxObjectBytes, or key or block above their bounds.
	ErrTooLarge = errors.New("disk: object too large")
	// ErrOff: the directory has failed and is not back yet, or was closed.
	ErrOff = errors.New("disk: out of use: /status and the log say why")
	// ErrReadOnly: the directory cannot be written to.
	ErrReadOnly = errors.New("disk: read-only")
)

// put is a record on its way to the disk. Its bytes are the caller's, and never change.
type put struct {
	layout.Record
	shape layout.Shape
	bytes int64 // that count as waiting
	draft bool  // its body is on the disk already, and cannot be read yet
	gone  bool  // removed or replaced meanwhile; guarded by queue.mu
}

// death is a record that the index no longer has. Its segment still does.
type death struct {
	segment *segment
	offset  int64
}

// queue is what waits for the writer, and what is found in memory meanwhile. It is safe for
// concurrent use.
type queue struct {
	wake chan struct{} // has one when there is work

	mu     sync.RWMutex
	puts   []*put
	deaths []death
	keeps  []chan error // waiting for the log of removals
	clears []chan error // waiting for all that was put
	notes  []layout.Patched
	asks   []ask           // for the writer to do, behind all that was put
	byHash map[uint64]*put // what was put and is not indexed yet
	bytes  int64           // of these and of those that failed since
	bound  int64
	count  atomic.Int64 // of byHash
}

func newQueue(bound int64) *queue {
	return &queue{wake: make(chan struct{}, 1), byHash: map[uint64]*put{}, bound: bound}
}

func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// add takes p, or returns ErrBusy. What waited under its hash is gone either way.
func (q *queue) add(p *put) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropLocked(p.Hash)
	if q.bytes > 0 && q.bytes+p.shape.Bytes > q.bound {
		return ErrBusy
	}
	p.bytes = p.shape.Bytes
	q.bytes += p.bytes
	q.puts = append(q.puts, p)
	q.byHash[p.Hash] = p
	q.count.Store(int64(len(q.byHash)))
	q.ring()
	return nil
}

// drop forgets what waits under h.
func (q *queue) drop(h uint64) {
	if q.count.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropLocked(h)
}

func (q *queue) dropLocked(h uint64) {
	if p := q.byHash[h]; p != nil {
		p.gone = true
		delete(q.byHash, h)
		q.count.Store(int64(len(q.byHash)))
	}
}

// find returns what waits under key.
func (q *queue) find(h uint64, key []byte) *put {
	if q.count.Load() == 0 {
		return nil
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	if p := q.byHash[h]; p != nil && !p.draft && bytes.Equal(p.Key, key) {
		return p
	}
	return nil
}

// has reports whether something that can be found waits under h.
func (q *queue) has(h uint64) bool {
	if q.count.Load() == 0 {
		return false
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	p := q.byHash[h]
	return p != nil && !p.draft
}

// settle ends the way of p: unless it is gone, index gets it in the same moment in which it is found here no more.
// It reports whether p was there.
func (q *queue) settle(p *put, index func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= p.bytes
	if p.gone {
		return false
	}
	if index != nil {
		index()
	}
	q.dropLocked(p.Hash)
	return true
}

// isGone reports whether nobody wants p any more.
func (q *queue) isGone(p *put) bool {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return p.gone
}

// bury notes that the index no longer has a record.
func (q *queue) bury(d death) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deaths = append(q.deaths, d)
	q.ring()
}

// keep returns what gets the outcome once all deaths before are on the disk.
func (q *queue) keep() chan error {
	done := make(chan error, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keeps = append(q.keeps, done)
	q.ring()
	return done
}

// clear returns what gets the outcome once all that was put before is written.
func (q *queue) clear() chan error {
	done := make(chan error, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.clears = append(q.clears, done)
	q.ring()
	return done
}

// patch has the log say what was noted of a record.
func (q *queue) patch(p layout.Patched) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, p)
	q.ring()
}

// ask is something that the writer does for another goroutine.
type ask struct {
	do    func() error
	done  chan error
	bytes int64 // that count as waiting
}

// ask returns what gets the outcome of do, once the writer has done it.
func (q *queue) ask(do func() error) chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.askLocked(do, 0)
}

func (q *queue) askLocked(do func() error, bytes int64) chan error {
	done := make(chan error, 1)
	q.bytes += bytes
	q.asks = append(q.asks, ask{do, done, bytes})
	q.ring()
	return done
}

// piece is ask for what has that many bytes waiting. The error is ErrBusy.
func (q *queue) piece(bytes int64, do func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes > 0 && q.bytes+bytes > q.bound {
		return ErrBusy
	}
	q.askLocked(do, bytes)
	return nil
}

// publish takes p, a draft whose body is on its way, and returns what gets the outcome of do. What waited under its hash is gone.
func (q *queue) publish(p *put, do func() error) chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropLocked(p.Hash)
	q.byHash[p.Hash] = p
	q.count.Store(int64(len(q.byHash)))
	return q.askLocked(do, 0)
}

// answer ends an ask.
func (q *queue) answer(a ask, err error) {
	q.mu.Lock()
	q.bytes -= a.bytes
	q.mu.Unlock()
	a.done <- err
}

// all returns what was put and is not indexed yet.
func (q *queue) all() []*put {
	q.mu.RLock()
	defer q.mu.RUnlock()
	all := make([]*put, 0, len(q.byHash))
	for _, p := range q.byHash {
		all = append(all, p)
	}
	return all
}

// dropPut forgets p, if it still waits.
func (q *queue) dropPut(p *put) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byHash[p.Hash] == p {
		q.dropLocked(p.Hash)
	}
}

// work is what the writer takes at once.
type work struct {
	puts   []*put
	deaths []death
	keeps  []chan error
	clears []chan error
	notes  []layout.Patched
	asks   []ask
}

func (q *queue) take() work {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := work{puts: q.puts, deaths: q.deaths, keeps: q.keeps, clears: q.clears, notes: q.notes, asks: q.asks}
	q.puts, q.deaths, q.keeps, q.clears, q.notes, q.asks = nil, nil, nil, nil, nil, nil
	return w
}

func (q *queue) waiting() (records, bytes int64) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return int64(len(q.byHash)), q.bytes
}
