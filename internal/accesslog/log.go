package accesslog

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"edgeproxy/internal/lines"
)

// closeWait is how long Close waits for the last write.
const closeWait = 2 * time.Second

// Options are the settings of a Log, as those of lines.Options. The zero value is ready
// to use.
type Options struct {
	QueueBytes int
	OnError    func(error)
}

// Log is an access log. Its methods are safe for concurrent use.
type Log struct {
	*lines.Log
	encoder zerolog.Logger
}

// New returns a log that writes to w; see lines.New.
func New(w io.Writer, o Options) (*Log, error) { return encode(lines.New(w, o.lines())) }

// Open returns a log that appends to the file at path; see lines.Open.
func Open(path string, o Options) (*Log, error) { return encode(lines.Open(path, o.lines())) }

func (o Options) lines() lines.Options {
	return lines.Options{Name: "access log", QueueBytes: o.QueueBytes, OnError: o.OnError, CloseWait: closeWait}
}

func encode(l *lines.Log, err error) (*Log, error) {
	if err != nil {
		return nil, err
	}
	return &Log{Log: l, encoder: zerolog.New(l)}, nil
}

// Write adds one line to the queue and returns without waiting for the file.
// The line and its bytes are the caller's again when it returns. A line that
// does not fit the queue, or comes after Close, is dropped and counted. In the
// steady state it does not allocate.
func (l *Log) Write(line *Line) {
	e := l.encoder.Log()
	if e == nil { // zerolog's process-wide level is set to Disabled
		l.Drop()
		return
	}
	line.encode(e)
	e.Send()
}
