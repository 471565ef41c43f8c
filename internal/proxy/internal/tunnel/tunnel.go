package tunnel

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/rescue"
)

// upBuffer is what bytes from a client are copied through. The other way they go from the
// buffer of the origin's connection.
const upBuffer = 8 << 10

// Origin is the connection to an origin. One goroutine calls Next, beside one that calls
// Write and CloseWrite. Close may be called from any, again and at any time: it ends the
// others at once.
type Origin interface {
	// Next waits for bytes, which are valid until the next call. At the end of the
	// direction it returns io.EOF.
	Next() ([]byte, error)
	// Write sends p, and limits its time itself.
	Write(p []byte) (int, error)
	// CloseWrite tells the origin that no more will come.
	CloseWrite() error
	Close() error
}

// Options say how a tunnel behaves.
type Options struct {
	// UpgradeIdleTimeout ends the tunnel when nothing has come from either side for so long.
	UpgradeIdleTimeout time.Duration
	// ReadIdleTimeout does, once one direction has ended. Nobody might be left to end the other.
	ReadIdleTimeout time.Duration
	// WriteIdleTimeout is how long a client may take for one write; 0 is no limit.
	WriteIdleTimeout time.Duration
	// Now reads the clock.
	Now func() time.Time
	// Sent and Received count the bytes that the client is sent, without the head, and those that the origin is sent, as they
	// go; nil counts none.
	Sent, Received *atomic.Int64
	// Panics notes a panic in a goroutine of the tunnel, which ends it; nil notes nothing.
	Panics *rescue.Counter
}

// End is what became of a tunnel.
type End struct {
	// HeadSent is when the client had been sent the head; zero if it could not be.
	HeadSent time.Time
	// Up and Down are the bytes that the origin and the client were sent, without the head.
	Up, Down int64
	// While and Err are the first thing that failed; nil where both sides ended in order.
	While string
	Err   error
}

// Tunnel is one pair of connections. Cut may be called by any goroutine, the rest by one.
type Tunnel struct {
	Options
	conn   net.Conn // to the client, to be closed
	client net.Conn // the same, to be used; see Run
	origin Origin

	mu    sync.Mutex
	limit time.Duration // how long silence may last
	alarm *time.Timer   // ends the tunnel after it; nil before Run
	over  bool          // cut
	while string        // what failed first
	err   error
}

// New returns a tunnel between a client and an origin, which owns both connections once it
// runs.
func New(client net.Conn, origin Origin, o Options) *Tunnel {
	return &Tunnel{Options: o, conn: client, origin: origin, limit: o.UpgradeIdleTimeout}
}

// Run sends head to the client, copies until the tunnel ends, and closes both connections.
// It reads and writes client: the connection of New, as a server hands it over that may
// have read ahead. A tunnel that was cut before Run sends nothing; the client's connection
// is then left to the caller.
func (t *Tunnel) Run(client net.Conn, head []byte) (end End) {
	t.client = client
	defer t.Cut()
	if !t.begin() {
		return end
	}
	defer t.alarm.Stop()
	if t.send(head) != nil {
		return end
	}
	end.HeadSent = t.Now()

	var up sync.WaitGroup
	up.Go(func() { end.Up = t.up() })
	end.Down = t.down()
	up.Wait()
	end.While, end.Err = t.failure()
	return end
}

// begin reports whether the tunnel may run, and sets its alarm.
func (t *Tunnel) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.alarm = time.AfterFunc(t.limit, func() { t.Panics.Quietly(t.silent) })
	return true
}

// up copies from the client to the origin and returns how many bytes.
func (t *Tunnel) up() (sent int64) {
	defer t.rescue()
	buffer := make([]byte, upBuffer)
	for {
		n, err := t.client.Read(buffer)
		if n > 0 {
			t.heard()
			if _, err := t.origin.Write(buffer[:n]); err != nil {
				t.broke("send to the origin", err)
				return sent
			}
			sent += int64(n)
			count(t.Received, n)
		}
		if err != nil {
			t.ended("receive from the client", err, t.origin.CloseWrite)
			return sent
		}
	}
}

// down copies from the origin to the client and returns how many bytes.
func (t *Tunnel) down() (sent int64) {
	defer t.rescue()
	for {
		piece, err := t.origin.Next()
		if len(piece) > 0 {
			t.heard()
			if err := t.send(piece); err != nil {
				t.broke("send to the client", err)
				return sent
			}
			sent += int64(len(piece))
			count(t.Sent, len(piece))
		}
		if err != nil {
			t.ended("receive from the origin", err, t.closeWrite)
			return sent
		}
	}
}

func count(at *atomic.Int64, n int) {
	if at != nil {
		at.Add(int64(n))
	}
}

// send writes to the client.
func (t *Tunnel) send(piece []byte) error {
	if t.WriteIdleTimeout > 0 {
		_ = t.client.SetWriteDeadline(t.Now().Add(t.WriteIdleTimeout)) // if it fails, so does the write
		defer func() { _ = t.client.SetWriteDeadline(time.Time{}) }()
	}
	_, err := t.client.Write(piece)
	return err
}

// closeWrite tells the client that no more will come.
func (t *Tunnel) closeWrite() error {
	if half, ok := t.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// heard puts the alarm off: something came.
func (t *Tunnel) heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alarm.Reset(t.limit)
}

// ended is called when one side sends no more. It passes that on to the other, which may
// go on, under the stricter limit on silence.
func (t *Tunnel) ended(while string, err error, pass func() error) {
	if !errors.Is(err, io.EOF) {
		t.broke(while, err)
		return
	}
	if pass() != nil {
		t.Cut() // a connection whose one half cannot be closed is closed whole
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = min(t.limit, t.ReadIdleTimeout)
	t.alarm.Reset(t.limit)
}

func (t *Tunnel) silent() { t.broke("wait for either side", context.DeadlineExceeded) }

// broke ends the tunnel. The end of one side makes the other fail too: the first tells.
func (t *Tunnel) broke(while string, err error) {
	t.mu.Lock()
	if t.err == nil {
		t.while, t.err = while, err
	}
	t.mu.Unlock()
	t.Cut()
}

// failure returns what failed first.
func (t *Tunnel) failure() (while string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.while, t.err
}

// rescue ends the tunnel after a panic.
func (t *Tunnel) rescue() {
	if v := recover(); v != nil {
		t.Panics.Note(v)
		t.Cut()
	}
}

// Cut ends both connections, and every read and write on them, at once. Before Run it
// leaves the client's open: a server does not hand a closed connection over.
func (t *Tunnel) Cut() {
	t.mu.Lock()
	t.over = true
	runs := t.alarm != nil
	t.mu.Unlock()
	_ = t.origin.Close()
	if runs {
		_ = t.conn.Close()
	}
}
