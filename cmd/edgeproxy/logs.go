package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/ops/lines"
)

// programLogBytes bounds the queue of the program's own log.
const programLogBytes = 1 << 20

// openLog returns the program's own log, and the queue behind it. Logging never waits for
// the reader of standard error. slog's default logger and the package log use it too.
func openLog(o config.Log, level slog.Leveler, stderr io.Writer) (*slog.Logger, *lines.Log, error) {
	if stderr == io.Writer(os.Stderr) {
		stderr = ownStderr()
	}
	out, err := lines.New(stderr, lines.Options{Name: "log", QueueBytes: programLogBytes})
	if err != nil {
		return nil, nil, err
	}
	log := newLogAt(o.Format, level, out)
	slog.SetDefault(log)
	return log, out, nil
}

func newLog(o config.Log, w io.Writer) *slog.Logger { return newLogAt(o.Format, o.Level, w) }

func newLogAt(format config.Format, level slog.Leveler, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == config.FormatText {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(lines.EscapeJSON(w), options))
}

// printWithin writes text to w. It gives up after timeout, if nobody reads w.
func printWithin(w io.Writer, text string, timeout time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(w, text) // an error cannot be reported anywhere
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
