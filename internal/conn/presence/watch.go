package presence

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/rescue"
)

const (
	// interval is the time between two sweeps.
	interval = 50 * time.Millisecond
	// intervalPerClient is added to interval for each client that waits, so that sweeps take a few
	// hundredths of a processor at most.
	intervalPerClient = 20 * time.Microsecond
	// graceSweeps is after how many sweeps a client that has ended its side counts as gone.
	graceSweeps = 5
)

// Watch watches clients that wait. It is safe for concurrent use. It must be closed.
type Watch struct {
	panics     *rescue.Counter
	gone       atomic.Int64
	sweepEvery time.Duration // interval, except in tests

	mu          sync.Mutex
	first, last *Client // in the order in which they came
	count       int
	sweeps      uint64
	timer       *time.Timer // nil before the first client
	timerSet    bool
	closed      bool

	sweeping sync.WaitGroup
	swept    []*Client // the sweep's own
	poll     poll
}

// New returns a Watch without clients. panics notes panics of what is closed when a client leaves; nil
// notes none.
func New(panics *rescue.Counter) *Watch { return &Watch{panics: panics, sweepEvery: interval} }

// Gone returns how many clients were seen to leave.
func (w *Watch) Gone() int64 { return w.gone.Load() }

// Attend watches the client of conn until Release. If the system cannot tell whether a client is
// there, the Client never leaves.
func (w *Watch) Attend(conn net.Conn) *Client {
	g := &Client{watch: w}
	if within, ok := conn.(inProcess); ok {
		g.stop = within.OnLeave(func() { w.panics.Quietly(g.leave) })
		return g
	}
	if g.conn = socketOf(conn); g.conn != nil && canPoll {
		w.add(g)
	}
	return g
}

// Close ends the watch and waits for a sweep that is under way. No Client leaves after that.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.sweeping.Wait()
}

func (w *Watch) add(g *Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	g.listed, g.since, g.prev = true, w.sweeps, w.last
	if w.last == nil {
		w.first = g
	} else {
		w.last.next = g
	}
	w.last = g
	w.count++
	w.setLocked()
}

func (w *Watch) remove(g *Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(g)
}

// removeLocked takes g out of the list and reports whether it was there.
func (w *Watch) removeLocked(g *Client) bool {
	if !g.listed {
		return false
	}
	if g.prev == nil {
		w.first = g.next
	} else {
		g.prev.next = g.next
	}
	if g.next == nil {
		w.last = g.prev
	} else {
		g.next.prev = g.prev
	}
	g.listed, g.next, g.prev = false, nil, nil
	w.count--
	return true
}

// setLocked sets the timer, if a client waits.
func (w *Watch) setLocked() {
	if w.timerSet || w.closed || w.first == nil {
		return
	}
	w.timerSet = true
	d := w.sweepEvery + time.Duration(w.count)*intervalPerClient
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.sweep)
	} else {
		w.timer.Reset(d)
	}
}

// sweep asks about all clients that have waited since the sweep before this one.
func (w *Watch) sweep() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.sweeping.Add(1) // before Close can take the mutex and wait
	defer w.sweeping.Done()
	w.sweeps++
	w.swept = w.swept[:0]
	for g := w.first; g != nil && g.since+1 < w.sweeps; g = g.next {
		w.swept = append(w.swept, g)
	}
	w.mu.Unlock()

	var gone []*Client
	w.panics.Quietly(func() { gone = w.poll.findGone(w.swept) })
	for _, g := range gone {
		w.mu.Lock()
		// For a client that was released meanwhile the result does not count: its
		// connection may have been closed, and the descriptor be that of another one.
		ours := w.removeLocked(g)
		w.mu.Unlock()
		if ours {
			w.panics.Quietly(g.leave)
		}
	}
	clear(w.swept)
	w.mu.Lock()
	w.timerSet = false
	w.setLocked()
	w.mu.Unlock()
}
