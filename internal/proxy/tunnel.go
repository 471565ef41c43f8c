package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/origin"
)

// tunnelBuffer is what bytes from a client to an origin are copied through. The other
// way they go from the buffer of the origin's connection.
const tunnelBuffer = 8 << 10

// tunnel copies bytes between a client and an origin that have switched to another
// protocol, as they come and without reading them. Each direction holds one buffer
// full at most: a slow reader slows the sender. Each write has its limit, and
// together both directions have one on silence.
//
// An end of one direction is passed on as such, and the other goes on; any failure
// ends both.
type tunnel struct {
	p      *Proxy
	x      *exchange // serve's alone
	conn   net.Conn  // to the client, to be closed
	client net.Conn  // the same, to be used: reads begin with what the server has read
	origin *origin.Upgraded

	halfLimit time.Duration // of silence once one direction has ended

	mu    sync.Mutex
	limit time.Duration // of silence
	alarm *time.Timer   // ends the tunnel after it; nil before serve
	over  bool          // cut
}

// serve sends the head of the answer, runs the tunnel to its end and records the request.
func (t *tunnel) serve(client net.Conn, head []byte) {
	t.client = client
	defer t.p.tunnels.remove(t)
	defer t.p.record(t.x)
	defer t.cut()
	if !t.begin() {
		return
	}
	defer t.alarm.Stop()
	if t.send(head) != nil {
		return
	}
	t.x.firstByte = now().Sub(t.x.start)

	var up sync.WaitGroup
	up.Go(func() { t.x.received = t.up() })
	t.x.bytes = t.down()
	up.Wait()
}

// begin reports whether the tunnel may be served, and sets its alarm.
func (t *tunnel) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.alarm = time.AfterFunc(t.limit, func() { t.p.Panics.Quietly(t.silent) })
	return true
}

// up copies from the client to the origin and returns how many bytes.
func (t *tunnel) up() (sent int64) {
	defer t.rescue()
	buffer := make([]byte, tunnelBuffer)
	for {
		n, err := t.client.Read(buffer)
		if n > 0 {
			t.heard()
			if _, err := t.origin.Write(buffer[:n]); err != nil {
				t.broke("send to the origin", err)
				return sent
			}
			sent += int64(n)
		}
		if err != nil {
			t.ended("client", err, t.origin.CloseWrite)
			return sent
		}
	}
}

// down copies from the origin to the client and returns how many bytes.
func (t *tunnel) down() (sent int64) {
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
		}
		if err != nil {
			t.ended("origin", err, t.closeWrite)
			return sent
		}
	}
}

// send writes to the client.
func (t *tunnel) send(piece []byte) error {
	if t.p.WriteIdle > 0 {
		_ = t.client.SetWriteDeadline(now().Add(t.p.WriteIdle)) // if it fails, so does the write
		defer func() { _ = t.client.SetWriteDeadline(time.Time{}) }()
	}
	_, err := t.client.Write(piece)
	return err
}

// closeWrite tells the client that no more will come.
func (t *tunnel) closeWrite() error {
	if half, ok := t.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// heard puts the alarm off: something came.
func (t *tunnel) heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alarm.Reset(t.limit)
}

// ended passes on that one side sends no more. The other may go on, but not be silent
// for longer than a request's body may: nobody might be left to end it.
func (t *tunnel) ended(who string, err error, pass func() error) {
	if !errors.Is(err, io.EOF) {
		t.broke("receive from the "+who, err)
		return
	}
	if err := pass(); err != nil {
		t.cut() // a connection whose one half cannot be closed is closed whole
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = min(t.limit, t.halfLimit)
	t.alarm.Reset(t.limit)
}

func (t *tunnel) silent() { t.broke("wait for either side", context.DeadlineExceeded) }

// broke notes what went wrong and ends the tunnel. What the end of one side brings
// about on the other is noted, too: the first line tells.
func (t *tunnel) broke(doing string, err error) {
	t.p.Log.Log(context.Background(), slog.LevelDebug, "upgraded connection ended", "while", doing, "error", err)
	t.cut()
}

// rescue ends the tunnel after a panic.
func (t *tunnel) rescue() {
	if v := recover(); v != nil {
		t.p.Panics.Note(v)
		t.cut()
	}
}

// cut ends both connections, and every read and write on them, at once. It may be
// called at any time, from any goroutine. The server does not hand a closed connection
// over, so before serve it stays for serve to end.
func (t *tunnel) cut() {
	t.mu.Lock()
	t.over = true
	served := t.alarm != nil
	t.mu.Unlock()
	_ = t.origin.Close()
	if served {
		_ = t.conn.Close()
	}
}

// tunnels are all those of a Proxy. It is safe for concurrent use.
type tunnels struct {
	places atomic.Int64 // taken; also by requests that ask the origin for one
	shares *places      // of clients in them
	ended  sync.WaitGroup

	mu     sync.Mutex
	open   map[*tunnel]struct{}
	closed bool
}

// add takes t in and reports whether it may be served: after close none is.
func (s *tunnels) add(t *tunnel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = map[*tunnel]struct{}{}
	}
	s.open[t] = struct{}{}
	s.ended.Add(1)
	return true
}

func (s *tunnels) remove(t *tunnel) {
	s.mu.Lock()
	delete(s.open, t)
	s.mu.Unlock()
	s.ended.Done()
}

func (s *tunnels) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// close ends all, waits until they are recorded, and returns how many there were.
func (s *tunnels) close() int {
	s.mu.Lock()
	s.closed = true
	open := make([]*tunnel, 0, len(s.open))
	for t := range s.open {
		open = append(open, t)
	}
	s.mu.Unlock()
	for _, t := range open {
		t.cut()
	}
	s.ended.Wait()
	return len(open)
}
