package pace

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/rescue"
)

// Options say what clients are held to.
type Options struct {
	// SendRate is the least pace at which a client acknowledges what it is sent. A client for
	// which nothing is queued is not slow. The pace is enforced only if the system tells what was
	// acknowledged: see Acknowledged.
	SendRate Rate
	// Pinned counts what all clients pin together. Beyond its limit the slowest answers are
	// ended. Nil is no such limit.
	Pinned *pinned.Total
	// Client says which client a connection is of; the zero Prefix is one of its own. Nil
	// knows no clients.
	Client func(net.Conn) netip.Prefix
	// Panics notes panics of the Watch's goroutine; nil notes none.
	Panics *rescue.Counter
	// Log gets a line for each answer that is ended, at level debug. It may not be nil.
	Log *slog.Logger
}

// A Watch runs every checkInterval. With a least pace it runs checksPerPeriod times in a period of Options.SendRate if
// that is more often, but at most every minInterval.
const (
	checkInterval   = time.Second
	minInterval     = 5 * time.Millisecond
	checksPerPeriod = 8
)

// Watch watches the connections that answers are sent on. One goroutine asks the
// system about all of them at intervals, so that an answer costs nothing more. It is safe
// for concurrent use; a nil Watch watches nothing.
type Watch struct {
	o         Options
	conns     sync.Map // a *Sending under each net.Conn that its server knows
	slow      atomic.Int64
	cutPinned atomic.Int64
	closing   chan struct{}
	running   sync.WaitGroup
	once      sync.Once
}

// New returns a Watch, which runs until Close.
func New(o Options) *Watch {
	w := &Watch{o: o, closing: make(chan struct{})}
	w.running.Go(w.run)
	return w
}

// Close ends the watch, and waits for its goroutine.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.once.Do(func() { close(w.closing) })
	w.running.Wait()
}

// LetGo returns how many connections and streams were ended so far: because the client was
// below Options.SendRate, and because too much was pinned.
func (w *Watch) LetGo() (slow, shed int64) { return w.slow.Load(), w.cutPinned.Load() }

// Enter begins to watch a connection.
func (w *Watch) Enter(conn net.Conn) {
	if w != nil {
		w.conns.Store(conn, w.newSending(conn))
	}
}

// Leave ends the watch of a connection. It is to be called when the connection is closed.
func (w *Watch) Leave(conn net.Conn) {
	if w != nil {
		w.conns.Delete(conn)
	}
}

// Begin notes that an answer is about to be sent on conn, to a request that came at the time
// at. The caller tells the Sending which bodies the answer is sent from (Hold), and closes it
// when the answer was written or has failed. A connection has one answer at a time. One that
// did not Enter is watched for this answer only. Begin takes no mutex, and allocates nothing
// for a connection that did Enter.
func (w *Watch) Begin(conn net.Conn, at time.Time) *Sending {
	if w == nil {
		return nil
	}
	v, ok := w.conns.Load(conn)
	if !ok {
		s := w.newSending(conn)
		s.oneAnswer = true
		w.conns.Store(conn, s)
		v = s
	}
	s := v.(*Sending)
	s.begin(at)
	return s
}

func (w *Watch) newSending(conn net.Conn) *Sending {
	return &Sending{watch: w, conn: conn, progress: progressOf(conn)}
}

func (w *Watch) run() {
	gap := checkInterval
	if w.o.SendRate.Bytes > 0 {
		gap = max(min(checkInterval, w.o.SendRate.Over/checksPerPeriod), minInterval)
	}
	tick := time.NewTicker(gap)
	defer tick.Stop()
	var over <-chan struct{}
	if w.o.Pinned != nil {
		over = w.o.Pinned.Over()
	}
	checked := time.Now()
	for {
		select {
		case <-w.closing:
			return
		case <-over:
			w.recoverPanics(func() { w.unpin(time.Now()) })
		case <-tick.C:
			now := time.Now()
			due := w.o.SendRate.Bytes > 0 && now.Sub(checked) >= w.o.SendRate.Over/checksPerPeriod
			if due {
				checked = now
			}
			w.recoverPanics(func() {
				w.check(now, due)
				w.unpin(now)
			})
		}
	}
}

// recoverPanics runs f. It notes a panic, and the Watch goes on.
func (w *Watch) recoverPanics(f func()) {
	defer func() {
		if v := recover(); v != nil {
			w.o.Panics.Note(v)
		}
	}()
	f()
}

// check samples the rate of each answer that is being sent. If due says so, it also resets the
// connections that are below the least pace.
func (w *Watch) check(now time.Time, due bool) {
	w.each(func(s *Sending) {
		if s.sending() {
			s.sample(now)
		}
		if due && s.tooSlow(w.o.SendRate, now) {
			w.slow.Add(1)
			w.reset(s, "below limits.send_rate")
		}
	})
}

func (w *Watch) each(f func(*Sending)) {
	w.conns.Range(func(_, v any) bool {
		f(v.(*Sending))
		return true
	})
}

// reset closes the connection of s, or its stream of HTTP/2, in a way that no client takes
// for the end of its answer.
func (w *Watch) reset(s *Sending, why string) {
	w.o.Log.Debug("connection reset", "client", s.conn.RemoteAddr().String(), "reason", why)
	conn := s.conn
	if _, stream := conn.(Stream); !stream {
		conn = bare(conn)
	}
	if c, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
