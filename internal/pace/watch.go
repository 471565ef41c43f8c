package pace

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/pinned"
	"edgeproxy/internal/rescue"
)

// Options say what clients are held to.
type Options struct {
	// Send is the least pace at which a client acknowledges what it is sent. A client for
	// which nothing waits is not slow. It is kept where the system tells what was
	// acknowledged: see Acknowledged.
	Send Rate
	// Pinned is what all clients pin together. Beyond its limit the slowest answers are
	// ended. Nil is no such limit.
	Pinned *pinned.Total
	// Client says which client a connection is of; the zero Prefix is one of its own. Nil
	// knows no clients.
	Client func(net.Conn) netip.Prefix
	// Panics notes panics of the Watch's goroutine; nil notes none.
	Panics *rescue.Counter
	// Log gets a line for each client that is let go, at level debug. It may not be nil.
	Log *slog.Logger
}

// How often a Watch looks: at what is being sent each look, and at all connections checks
// times in a period of Options.Send.
const (
	look     = time.Second
	leastGap = 5 * time.Millisecond
	checks   = 8
)

// Watch looks after the connections that clients are answered on. One goroutine asks the
// system about all of them now and then, so that an answer pays nothing for it. It is safe
// for concurrent use; a nil Watch looks after nothing.
type Watch struct {
	o       Options
	conns   sync.Map // of net.Conn, as its server knows it, to *Sending
	slow    atomic.Int64
	shed    atomic.Int64
	closing chan struct{}
	running sync.WaitGroup
	once    sync.Once
}

// New returns a Watch, which runs until Close.
func New(o Options) *Watch {
	w := &Watch{o: o, closing: make(chan struct{})}
	w.running.Go(w.run)
	return w
}

// Close ends the looking, and waits for that.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.once.Do(func() { close(w.closing) })
	w.running.Wait()
}

// LetGo returns how many connections and streams were ended so far: because the client was
// below Options.Send, and because too much was pinned.
func (w *Watch) LetGo() (slow, shed int64) { return w.slow.Load(), w.shed.Load() }

// Enter begins to look after a connection.
func (w *Watch) Enter(conn net.Conn) {
	if w != nil {
		w.conns.Store(conn, w.newSending(conn))
	}
}

// Leave ends that. It is to be called when the connection is closed.
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
		s.passing = true
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
	gap := look
	if w.o.Send.Bytes > 0 {
		gap = max(min(look, w.o.Send.Over/checks), leastGap)
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
			w.guarded(func() { w.unpin(time.Now()) })
		case <-tick.C:
			now := time.Now()
			due := w.o.Send.Bytes > 0 && now.Sub(checked) >= w.o.Send.Over/checks
			if due {
				checked = now
			}
			w.guarded(func() {
				w.lookAt(now, due)
				w.unpin(now)
			})
		}
	}
}

// guarded runs f. A panic in it is noted, and the Watch goes on with the next look.
func (w *Watch) guarded(f func()) {
	defer func() {
		if v := recover(); v != nil {
			w.o.Panics.Note(v)
		}
	}()
	f()
}

// lookAt notes how far what is being sent has come and, if the pace is due, lets go of the
// connections that are below it.
func (w *Watch) lookAt(now time.Time, due bool) {
	w.each(func(s *Sending) {
		if s.sending() {
			s.sample(now)
		}
		if due && s.lags(w.o.Send, now) {
			w.slow.Add(1)
			w.letGo(s, "below the least pace of sending")
		}
	})
}

func (w *Watch) each(f func(*Sending)) {
	w.conns.Range(func(_, v any) bool {
		f(v.(*Sending))
		return true
	})
}

// letGo closes the connection of s, or its stream of HTTP/2, in a way that no client takes
// for the end of its answer.
func (w *Watch) letGo(s *Sending, why string) {
	w.o.Log.Debug("client is let go", "client", s.conn.RemoteAddr().String(), "reason", why)
	conn := s.conn
	if _, stream := conn.(Stream); !stream {
		conn = bare(conn)
	}
	if c, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
