package syslog

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Times of a Writer.
const (
	patience     = 10 * time.Second // from the first failure of a Write to its last try
	dialTimeout  = 3 * time.Second
	writeTimeout = 5 * time.Second // bound of one write
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
)

// chunk is how many bytes of lines are sent by one write to a stream.
const chunk = 64 << 10

// Writer sends lines to a server. It implements io.Writer. One goroutine writes; the other methods are safe for concurrent use.
type Writer struct {
	to     Destination
	format format
	dial   func(ctx context.Context, network, address string) (net.Conn, error)

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	conn    net.Conn // nil: none is open
	release func() bool
	reading sync.WaitGroup
	memory  []byte
}

// New returns a Writer of messages with this MSGID. It opens nothing: the first Write does. It must be closed.
func New(to Destination, message string) *Writer {
	w := &Writer{to: to, format: newFormat(&to, message), dial: (&net.Dialer{Timeout: dialTimeout}).DialContext}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Write sends each line of p, which are whole. It returns how many bytes of p are in lines that were sent, and an error if these are not
// all: then the server was tried for ten seconds since the first failure, or tries were ended. The first try after a failure is at once.
func (w *Writer) Write(p []byte) (n int, err error) {
	var pause time.Duration
	var failed time.Time
	for n < len(p) {
		sent, err := w.send(p[n:])
		if n += sent; err == nil {
			continue
		}
		w.disconnect()
		if failed.IsZero() {
			failed = now()
		}
		if now().Sub(failed) >= patience || !w.wait(pause) {
			return n, err
		}
		pause = min(max(2*pause, firstPause), longestPause)
	}
	return n, nil
}

// send sends a part of p, and connects before if need be. It returns how many bytes of p are in lines that were sent.
func (w *Writer) send(p []byte) (n int, err error) {
	if err := w.connect(); err != nil {
		return 0, err
	}
	_ = w.conn.SetWriteDeadline(now().Add(writeTimeout))
	if w.ctx.Err() != nil { // the deadline of Close may be the one that was replaced
		return 0, w.ctx.Err()
	}
	if w.to.Network == "tcp" {
		return w.sendStream(p)
	}
	line, size := nextLine(p)
	w.memory = w.format.append(w.memory[:0], line, now())
	if _, err := w.conn.Write(w.memory[:min(len(w.memory), maxDatagram)]); err != nil {
		return 0, err
	}
	return size, nil
}

// sendStream sends the first lines of p by one write. After an error a server takes nothing of the message that was cut: the next
// connection begins with it.
func (w *Writer) sendStream(p []byte) (n int, err error) {
	at := now()
	w.memory = w.memory[:0]
	var ends []int // ends of messages in memory
	for n < len(p) && len(w.memory) < chunk {
		line, size := nextLine(p[n:])
		w.memory = w.format.appendCounted(w.memory, line, at)
		ends = append(ends, len(w.memory))
		n += size
	}
	written, err := w.conn.Write(w.memory)
	if err == nil {
		return n, nil
	}
	n = 0
	for i := 0; i < len(ends) && ends[i] <= written; i++ {
		_, size := nextLine(p[n:])
		n += size
	}
	return n, err
}

// connect opens a connection, unless one is open.
func (w *Writer) connect() error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.dial(w.ctx, w.to.Network, w.to.Address)
	if err != nil {
		return err
	}
	w.conn = conn
	w.release = context.AfterFunc(w.ctx, func() { _ = conn.SetWriteDeadline(now()) })
	if w.to.Network == "tcp" { // a server says nothing, but its end; then the next write has to fail
		w.reading.Go(func() {
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		})
	}
	return nil
}

// disconnect closes the connection, if there is one.
func (w *Writer) disconnect() {
	if w.conn != nil {
		w.release()
		_ = w.conn.Close()
		w.conn = nil
	}
}

// wait waits before the next try, and reports whether there may be one.
func (w *Writer) wait(pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return w.ctx.Err() == nil
	case <-w.ctx.Done():
		return false
	}
}

// GiveUpAfter ends tries and writes after a time, for a log that is being closed. stop takes that back.
func (w *Writer) GiveUpAfter(d time.Duration) (stop func() bool) {
	return time.AfterFunc(d, w.cancel).Stop
}

// Close closes the connection. The goroutine that writes calls it. Later writes fail.
func (w *Writer) Close() error {
	w.cancel()
	w.disconnect()
	w.reading.Wait()
	return nil
}
