package lines

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Options are the settings of a Log. All but Name may be left out.
type Options struct {
	// Name is the log's name in errors, such as "access log".
	Name string
	// QueueBytes bounds the bytes that wait to be written. As many again can be in the
	// write in progress. A line that does not fit is dropped. 0 means 4 MiB, about
	// sixteen thousand lines of usual length.
	QueueBytes int
	// CloseWait bounds how long Close waits for the writer. A write that never ends (to
	// a full pipe that nobody reads) cannot be cancelled, and must not keep the process
	// from ending. 0 means one second.
	CloseWait time.Duration
	// Gather is how long the writer waits for more lines after a write, so that a busy log is
	// written in few and large batches. In a quiet log a line is written at once. The wait
	// ends when the queue is a quarter full, and at Reopen and Close. 0: no wait.
	Gather time.Duration
	// OnError is called for failed writes, at most once a minute, by the log's own
	// goroutine: while OnError runs nothing is written. It must not call Close. It
	// may be nil.
	OnError func(error)
}

const (
	defaultQueueBytes = 4 << 20
	defaultCloseWait  = time.Second
)

// ErrCloseTimeout says that Close gave up on a write that did not end. Queued
// lines may be lost without being counted.
var ErrCloseTimeout = errors.New("the last write did not end in time")

// ErrClosed says that the log was closed before.
var ErrClosed = errors.New("the log is closed")

// Log is a log. Its methods are safe for concurrent use.
type Log struct {
	options Options
	path    string      // "": there is no file to reopen
	reads   atomic.Bool // the file opened last is a named pipe that this process has open for reading too
	queue   *queue
	done    chan struct{} // closed when the writer has ended
	err     error         // the error of closing the file; set before done is closed
}

// New returns a log that writes to w. Each Write has one or more whole lines, and
// all come from the same goroutine. Close does not close w. A nil w or a negative
// limit is an error.
func New(w io.Writer, o Options) (*Log, error) {
	if w == nil {
		return nil, errors.New(o.Name + ": no writer")
	}
	return start("", w, nil, o)
}

// NewOwned returns a log that writes to w as that of New does. Close closes w too, in the
// goroutine that writes to it.
func NewOwned(w io.WriteCloser, o Options) (*Log, error) { return start("", w, w, o) }

func start(path string, out io.Writer, closer io.Closer, o Options) (*Log, error) {
	if o.QueueBytes < 0 {
		return nil, fmt.Errorf("%s: queue of %d bytes: must be 0 or more", o.Name, o.QueueBytes)
	}
	o.QueueBytes = cmp.Or(o.QueueBytes, defaultQueueBytes)
	o.CloseWait = cmp.Or(o.CloseWait, defaultCloseWait)
	l := &Log{options: o, path: path, queue: newQueue(o.QueueBytes), done: make(chan struct{})}
	w := &writer{name: o.Name, queue: l.queue, out: out, closer: closer, onError: o.OnError, minInterval: o.Gather}
	go func() {
		defer close(l.done)
		l.err = w.run()
	}()
	return l, nil
}

// Write adds one whole line, with its line feed, to the queue. It never waits for the
// writer. It copies the bytes before it returns. A line that does not fit into the queue,
// or comes after Close, is dropped and counted. Write never returns an error.
func (l *Log) Write(line []byte) (int, error) { return l.queue.Write(line) }

// Drop counts a line as dropped that was never passed to Write.
func (l *Log) Drop() { l.queue.drop() }

// Dropped returns the number of lines that were not written, or not in full,
// since the start: the queue was full, the log closed, or a write failed.
func (l *Log) Dropped() uint64 {
	dropped, _ := l.queue.counts()
	return dropped
}

// WriteErrors returns the number of failed writes since the start. It includes
// files that could not be closed after a Reopen. One write can have many lines.
func (l *Log) WriteErrors() uint64 {
	_, failed := l.queue.counts()
	return failed
}

// Close writes what is queued, closes the file if Open opened it, and stops the
// goroutine. It waits at most CloseWait and then returns ErrCloseTimeout; the
// goroutine ends when its write does. Later lines are dropped. A second Close
// waits like the first and returns the same.
func (l *Log) Close() error {
	l.queue.close()
	timer := time.NewTimer(l.options.CloseWait)
	defer timer.Stop()
	select {
	case <-l.done:
		return l.err
	case <-timer.C:
		return fmt.Errorf("close %s: %w (%v)", l.options.Name, ErrCloseTimeout, l.options.CloseWait)
	}
}
