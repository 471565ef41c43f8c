package accesslog

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// DefaultQueueBytes is the limit of the queue when Options names none: some
// sixteen thousand lines of usual length.
const DefaultQueueBytes = 4 << 20

// closeWait is how long Close waits for the writer. A write that the system
// does not finish (a full pipe nobody reads) cannot be called back, and must
// not keep the process from ending.
const closeWait = 5 * time.Second

// ErrCloseTimeout says that Close gave up on a write that did not end. What was
// still queued may be lost without being counted.
var ErrCloseTimeout = fmt.Errorf("close access log: the last write did not end within %v", closeWait)

// ErrClosed says that the log was closed before.
var ErrClosed = errors.New("access log is closed")

// Options are the settings of a Log. The zero value is ready to use.
type Options struct {
	// QueueBytes is the most encoded bytes that wait to be written; as many
	// again can be in the write under way. A line that does not fit is dropped.
	// 0 means DefaultQueueBytes.
	QueueBytes int
	// OnError is told of failed writes, at most once a minute, by the log's own
	// goroutine: while it runs nothing is written. It must not call Close. It
	// may be nil.
	OnError func(error)
}

// Log is an access log. Its methods are safe for concurrent use.
type Log struct {
	path    string // "": there is no file to open again
	encoder zerolog.Logger
	queue   *queue
	done    chan struct{} // closed when the writer has ended
	err     error         // what closing the file said; set before done is closed
}

// New returns a log that writes to w, with one Write for one or more whole
// lines, always from the same goroutine. Close does not close w. A nil w or a
// negative limit is an error.
func New(w io.Writer, o Options) (*Log, error) {
	if w == nil {
		return nil, errors.New("access log: no writer")
	}
	return start("", w, nil, o)
}

func start(path string, out io.Writer, closer io.Closer, o Options) (*Log, error) {
	if o.QueueBytes < 0 {
		return nil, fmt.Errorf("access log: queue of %d bytes: want 0 or more", o.QueueBytes)
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = DefaultQueueBytes
	}
	q := newQueue(o.QueueBytes)
	l := &Log{path: path, encoder: zerolog.New(q), queue: q, done: make(chan struct{})}
	w := &writer{queue: q, out: out, closer: closer, onError: o.OnError}
	go func() {
		defer close(l.done)
		l.err = w.run()
	}()
	return l, nil
}

// Write adds one line to the queue and returns without waiting for the file.
// The line and its bytes are the caller's again when it returns. A line that
// does not fit the queue, or comes after Close, is dropped and counted. In the
// steady state it does not allocate.
func (l *Log) Write(line *Line) {
	e := l.encoder.Log()
	if e == nil { // zerolog's process-wide level is set to Disabled
		l.queue.drop()
		return
	}
	line.encode(e)
	e.Send()
}

// Dropped returns the number of lines that were not written, or not in full,
// since the start: the queue was full, the log closed, or a write failed.
func (l *Log) Dropped() uint64 {
	dropped, _ := l.queue.counts()
	return dropped
}

// WriteErrors returns the number of failed writes since the start, a file that
// could not be closed by Reopen included. One write can hold many lines.
func (l *Log) WriteErrors() uint64 {
	_, failed := l.queue.counts()
	return failed
}

// Close writes what is queued, closes the file if Open opened it, and stops the
// goroutine. It waits at most five seconds and then returns ErrCloseTimeout;
// the goroutine ends by itself when the write does. Lines written afterwards
// are dropped. A second Close waits like the first and returns the same.
func (l *Log) Close() error {
	l.queue.close()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-l.done:
		return l.err
	case <-timer.C:
		return ErrCloseTimeout
	}
}
