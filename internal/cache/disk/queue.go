package disk

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk/layout"
)

// Reasons why Put refuses a record.
var (
	// ErrBusy: more than QueueBytes wait to be written.
	ErrBusy = errors.New("disk: busy")
	// ErrRate: WriteRate is used up.
	ErrRate = errors.New("disk: write rate used up")
	// ErrTooLarge: the body is above MaxObjectBytes, or key or block above their bounds.
	ErrTooLarge = errors.New("disk: object too large")
	// ErrOff: the directory has failed and is not back yet, or was closed.
	ErrOff = errors.New("the disk tier is out of use: see cache.disk in /status, or the log")
	// ErrReadOnly: the directory cannot be written to.
	ErrReadOnly = errors.New("the disk tier is read-only")
)

// put is a record that waits for the writer. Its bytes never change.
type put struct {
	layout.Record
	buffer *buffer.Buffer // the Buffer that has Body, until finish; nil: there is none
	shape  layout.Shape
	bytes  int64       // the bytes that count as waiting
	draft  bool        // its body is on the disk already, and cannot be read yet
	gone   bool        // removed or replaced; guarded by queue.mu
	asked  atomic.Bool // it was hit while it waited
}

// deadRecord is a record that is no longer in the index. Its segment still has its bytes.
type deadRecord struct {
	segment *segment
	offset  int64
}

// queue has what waits for the writer. Records in it are found in memory. It is safe for concurrent use.
type queue struct {
	wake chan struct{} // has an element when there is work

	mu     sync.RWMutex
	puts   []*put
	spare  []*put // an empty list, for the next puts
	deaths []deadRecord
	keeps  []chan error // waiting for the log of removals
	clears []chan error // waiting for all that was put
	notes  []layout.Patched
	asks   []ask           // done after all records that were put before
	byHash map[uint64]*put // records that were put and are not indexed yet
	bytes  int64           // sum of byHash, of gone records until finish, and of asks
	bound  int64
	count  atomic.Int64 // length of byHash
}

func newQueue(bound int64) *queue {
	return &queue{wake: make(chan struct{}, 1), byHash: map[uint64]*put{}, bound: bound}
}

func (q *queue) wakeWriter() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// add adds p, or returns ErrBusy. Either way, a record waiting under its hash is dropped.
func (q *queue) add(p *put) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropLocked(p.Hash)
	p.bytes = p.shape.Bytes
	if p.buffer != nil {
		p.bytes += int64(cap(p.Body) - len(p.Body))
	}
	if q.bytes > 0 && q.bytes+p.bytes > q.bound {
		return ErrBusy
	}
	p.buffer.Share()
	q.bytes += p.bytes
	q.puts = append(q.puts, p)
	q.byHash[p.Hash] = p
	q.count.Store(int64(len(q.byHash)))
	q.wakeWriter()
	return nil
}

// drop drops the record that waits under h.
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

// find returns the record that waits under key. Its body stays valid after it was written.
func (q *queue) find(h uint64, key []byte) *put {
	if q.count.Load() == 0 {
		return nil
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	if p := q.byHash[h]; p != nil && !p.draft && wants(key, p.Key) {
		p.buffer.Keep()
		return p
	}
	return nil
}

// touch notes that the record that waits under h was hit. It reports false if none waits any more.
func (q *queue) touch(h uint64) bool {
	q.mu.RLock()
	defer q.mu.RUnlock()
	p := q.byHash[h]
	if p != nil {
		p.asked.Store(true)
	}
	return p != nil
}

// has reports whether a record that can be found waits under h.
func (q *queue) has(h uint64) bool {
	if q.count.Load() == 0 {
		return false
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	p := q.byHash[h]
	return p != nil && !p.draft
}

// finish takes p off the queue. Unless p is gone, it calls index at the same moment, so that a look-up finds p all the time. It reports whether
// p was there.
func (q *queue) finish(p *put, index func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer p.buffer.Release() // after index, so that nobody finds p any more
	p.buffer = nil
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

// isGone reports whether p was removed or replaced.
func (q *queue) isGone(p *put) bool {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return p.gone
}

// addDead adds a record that is no longer in the index.
func (q *queue) addDead(d deadRecord) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deaths = append(q.deaths, d)
	q.wakeWriter()
}

// keep returns a channel that gets the outcome once all removals so far are on the disk.
func (q *queue) keep() chan error {
	done := make(chan error, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keeps = append(q.keeps, done)
	q.wakeWriter()
	return done
}

// clear returns a channel that gets the outcome once all that was put so far is written.
func (q *queue) clear() chan error {
	done := make(chan error, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.clears = append(q.clears, done)
	q.wakeWriter()
	return done
}

// patch adds a Patch to be logged.
func (q *queue) patch(p layout.Patched) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, p)
	q.wakeWriter()
}

// ask is a call that the writer makes for another goroutine.
type ask struct {
	do    func() error
	done  chan error
	bytes int64 // the bytes that count as waiting
}

// ask has the writer call do. It returns a channel that gets the outcome.
func (q *queue) ask(do func() error) chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.askLocked(do, 0)
}

func (q *queue) askLocked(do func() error, bytes int64) chan error {
	done := make(chan error, 1)
	q.bytes += bytes
	q.asks = append(q.asks, ask{do, done, bytes})
	q.wakeWriter()
	return done
}

// piece is ask for a call that holds that many bytes. The error is ErrBusy.
func (q *queue) piece(bytes int64, do func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes > 0 && q.bytes+bytes > q.bound {
		return ErrBusy
	}
	q.askLocked(do, bytes)
	return nil
}

// publish adds p, a draft whose body is being written, and has the writer call do. It returns a channel that gets the outcome. A record that
// waits under the same hash is dropped.
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

// all returns the records that were put and are not indexed yet. Their bodies stay valid.
func (q *queue) all() []*put {
	q.mu.RLock()
	defer q.mu.RUnlock()
	all := make([]*put, 0, len(q.byHash))
	for _, p := range q.byHash {
		p.buffer.Keep()
		all = append(all, p)
	}
	return all
}

// dropPut drops p, if it still waits.
func (q *queue) dropPut(p *put) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byHash[p.Hash] == p {
		q.dropLocked(p.Hash)
	}
}

// work is what the writer takes from the queue at once.
type work struct {
	puts   []*put
	deaths []deadRecord
	keeps  []chan error
	clears []chan error
	notes  []layout.Patched
	asks   []ask
}

func (q *queue) take() work {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := work{puts: q.puts, deaths: q.deaths, keeps: q.keeps, clears: q.clears, notes: q.notes, asks: q.asks}
	q.puts, q.deaths, q.keeps, q.clears, q.notes, q.asks = q.spare, nil, nil, nil, nil, nil
	q.spare = nil
	return w
}

// giveBack returns the list of puts that take has returned, and whose puts are done.
func (q *queue) giveBack(puts []*put) {
	if cap(puts) == 0 || cap(puts) > mostPutsKept {
		return
	}
	clear(puts)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spare = puts[:0]
}

// mostPutsKept bounds the capacity of a list of puts that is kept.
const mostPutsKept = 1024

func (q *queue) waiting() (records, bytes int64) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return int64(len(q.byHash)), q.bytes
}

// rate limits writes by a token bucket. Up to a second's worth may be written at once.
type rate struct {
	perSecond int64 // 0: no bound

	mu    sync.Mutex
	left  int64
	since time.Time
}

// allows reports whether any bytes are left.
func (r *rate) allows(now time.Time) bool {
	if r.perSecond == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if past := now.Sub(r.since); past > 0 || past < -time.Second { // if the clock went back, start again
		fresh := int64(min(max(past, 0), time.Second).Seconds() * float64(r.perSecond))
		r.left = min(r.left+fresh, r.perSecond)
		r.since = now
	}
	return r.left > 0
}

// spend takes n written bytes, even if fewer are left.
func (r *rate) spend(n int64) {
	if r.perSecond == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left -= n
}

// beyond reports whether n bytes are more than may be written in that time.
func (r *rate) beyond(n int64, in time.Duration) bool {
	return r.perSecond > 0 && float64(n) > float64(r.perSecond)*in.Seconds()
}
