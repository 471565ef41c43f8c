package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	exchangeTimeout = time.Minute
	// idleLimit is well below edgeproxy's limits.keepalive_timeout. A connection that was idle
	// for longer is replaced, so that no request meets a connection that is closing.
	idleLimit       = 10 * time.Second
	maxTrailerLines = 64
)

var errTrailer = errors.New("trailer section too long")

// worker sends one request at a time over one keep-alive connection. It opens the
// connection when there is none.
type worker struct {
	*driver
	tally   *tally
	conn    net.Conn // nil = none
	release func() bool
	br      *bufio.Reader
	used    time.Time
	out     []byte
	head    fasthttp.ResponseHeader
}

func newWorker(d *driver) *worker {
	return &worker{driver: d, tally: newTally(), br: bufio.NewReaderSize(nil, 32<<10)}
}

// serve sends requests until jobs is closed. When ctx ends, the request in progress fails at once.
func (w *worker) serve(ctx context.Context, jobs <-chan job) {
	defer w.hangUp()
	for j := range jobs {
		sent := time.Now()
		n, err := w.exchange(ctx, j.object)
		if err != nil {
			w.hangUp()
		}
		if ctx.Err() == nil {
			w.tally.add(j, sent, n, err)
		}
		w.done.Add(1)
	}
}

// exchange sends one request and checks the response to its last byte. It returns
// the body bytes received.
func (w *worker) exchange(ctx context.Context, object uint32) (int64, error) {
	if err := w.connect(ctx); err != nil {
		return 0, err
	}
	o := &w.replay.objects[object]
	w.out = append(append(w.out[:0], "GET "...), o.target...)
	w.out = append(append(w.out, " HTTP/1.1\r\nHost: "...), w.host...)
	w.out = append(w.out, "\r\nUser-Agent: edgeproxy-loadtest\r\n\r\n"...)
	if _, err := w.conn.Write(w.out); err != nil {
		return 0, fmt.Errorf("send GET %s: %w", o.target, err)
	}
	n, err := w.receive(etag(object, o.bytes), o.bytes)
	if err != nil {
		return n, fmt.Errorf("GET %s: %w", o.target, err)
	}
	w.used = time.Now()
	if w.head.ConnectionClose() {
		w.hangUp()
	}
	return n, nil
}

func (w *worker) connect(ctx context.Context) error {
	if w.conn != nil && time.Since(w.used) > idleLimit {
		w.hangUp()
	}
	if w.conn == nil {
		conn, err := w.dial(ctx)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		w.conn = conn
		w.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
		w.br.Reset(conn)
	}
	return w.conn.SetDeadline(time.Now().Add(exchangeTimeout))
}

func (w *worker) hangUp() {
	if w.conn == nil {
		return
	}
	w.release()
	_ = w.conn.Close()
	w.conn = nil
}

// receive reads a response and checks that it is the object's: status, validator
// and exact length.
func (w *worker) receive(tag string, bytes int64) (int64, error) {
	if err := w.head.Read(w.br); err != nil {
		return 0, fmt.Errorf("read the response head: %w", err)
	}
	if status := w.head.StatusCode(); status != fasthttp.StatusOK {
		return 0, fmt.Errorf("status %d, must be 200 (Cache-Status: %s)", status, w.head.Peek("Cache-Status"))
	}
	if got := w.head.Peek(fasthttp.HeaderETag); string(got) != tag {
		return 0, fmt.Errorf("ETag %s, must be %s: another object's response", got, tag)
	}
	n, err := w.body()
	if err != nil {
		return n, fmt.Errorf("read the body after %d of %d bytes: %w", n, bytes, err)
	}
	if n != bytes {
		return n, fmt.Errorf("body of %d bytes, must be %d", n, bytes)
	}
	return n, nil
}

// body reads and drops a body by its framing, and returns its length.
func (w *worker) body() (int64, error) {
	switch n := w.head.ContentLength(); {
	case n >= 0:
		got, err := w.br.Discard(n)
		return int64(got), err
	case n == -1:
		got, err := io.Copy(io.Discard, httputil.NewChunkedReader(w.br))
		if err != nil {
			return got, err
		}
		return got, w.trailer()
	}
	return io.Copy(io.Discard, w.br) // until the close, which fasthttp has noted in head
}

func (w *worker) trailer() error {
	for range maxTrailerLines {
		line, err := w.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return nil
		}
	}
	return errTrailer
}
