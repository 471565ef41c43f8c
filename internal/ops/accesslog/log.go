package accesslog

import (
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"edgeproxy/internal/ops/internal/syslog"
	"edgeproxy/internal/ops/lines"
)

// closeWait bounds how long Close waits for the last write.
const closeWait = 2 * time.Second

// gather is the time between two writes of a busy log.
const gather = 50 * time.Millisecond

// Options are the settings of a Log; see lines.Options. The zero value is ready to
// use.
type Options struct {
	QueueBytes int
	OnError    func(error)
}

// Log is an access log. Its methods are safe for concurrent use.
type Log struct {
	*lines.Log
	buffers sync.Pool      // pool of *buffer
	remote  *syslog.Writer // nil: it writes to a file
}

// New returns a log that writes to w; see lines.New.
func New(w io.Writer, o Options) (*Log, error) { return encode(lines.New(w, o.lines())) }

// Open returns a log that appends to the file at path; see lines.Open. A path that begins with "syslog:" is a syslog server,
// see syslog.Parse; Open does not connect to it.
func Open(path string, o Options) (*Log, error) {
	if !Remote(path) {
		return encode(lines.Open(path, o.lines()))
	}
	to, err := syslog.Parse(path)
	if err != nil {
		return nil, err
	}
	w := syslog.New(to, messageID)
	l, err := encode(lines.NewOwned(w, o.lines()))
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	l.remote = w
	return l, nil
}

// messageID is the type of messages (MSGID of RFC 5424).
const messageID = "access"

// Remote reports whether a path stands for a server and not for a file.
func Remote(path string) bool { return strings.HasPrefix(path, syslog.Prefix) }

// ValidPath returns what is wrong with a path that is Remote, and nil for any other.
func ValidPath(path string) error {
	if !Remote(path) {
		return nil
	}
	_, err := syslog.Parse(path)
	return err
}

// Close writes what is queued and closes the log; see lines.Log. A server that does not take it in half of the time is given up, so that
// lines that are lost are counted.
func (l *Log) Close() error {
	if l.remote != nil {
		defer l.remote.GiveUpAfter(closeWait / 2)()
	}
	return l.Log.Close()
}

func (o Options) lines() lines.Options {
	return lines.Options{Name: "access log", QueueBytes: o.QueueBytes, OnError: o.OnError, CloseWait: closeWait, Gather: gather}
}

// usualLine is the initial size of a buffer, enough for most lines. The pool keeps no buffer larger than longestKept.
const (
	usualLine   = 1 << 10
	longestKept = 16 << 10
)

// buffer is the memory in which a line is encoded.
type buffer struct {
	line  []byte
	clock clock
}

func encode(l *lines.Log, err error) (*Log, error) {
	if err != nil {
		return nil, err
	}
	out := &Log{Log: l}
	out.buffers.New = func() any { return &buffer{line: make([]byte, 0, usualLine)} }
	return out, nil
}

// Write adds one JSON line to the queue, as WriteAs does.
func (l *Log) Write(line *Line) { l.WriteAs(nil, line) }

// WriteAs adds one line in this format to the queue and returns without waiting for the file.
// After it returns, the caller may change the line and its bytes. A line that does not fit
// into the queue, or comes after Close, is dropped and counted. In the steady state it does
// not allocate.
func (l *Log) WriteAs(f *Format, line *Line) {
	b := l.buffers.Get().(*buffer)
	b.line = f.append(b.line[:0], &b.clock, line)
	_, _ = l.Log.Write(b.line) // it never fails
	if cap(b.line) <= longestKept {
		l.buffers.Put(b)
	}
}
