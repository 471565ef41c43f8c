package lines

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// reportEvery is the least time between two calls of onError: a full disk fails
// every write, and the reports often go to the same disk.
const reportEvery = time.Minute

// writer moves batches from the queue to the file. One goroutine owns it.
type writer struct {
	name    string
	queue   *queue
	out     io.Writer
	closer  io.Closer // nil: out is not ours to close
	onError func(error)
	gather  time.Duration // 0: no wait between two writes
	timer   *time.Timer   // of the wait; nil before the first one

	torn       bool // the file ends in the middle of a line
	unreported int
	reported   time.Time
}

// run writes until the queue is closed and empty, and returns what closing the
// file said.
func (w *writer) run() error {
	var spare []byte
	for {
		b := w.queue.take(spare)
		w.write(b.lines[:b.cut])
		if b.next != nil {
			w.replace(b.next)
		}
		w.write(b.lines[b.cut:])
		if b.last {
			return w.close()
		}
		spare = b.lines
		w.rest()
	}
}

// rest waits until a busy log has more to write.
func (w *writer) rest() {
	if w.gather <= 0 {
		return
	}
	if w.timer == nil {
		w.timer = time.NewTimer(w.gather)
	} else {
		w.timer.Reset(w.gather)
	}
	select {
	case <-w.timer.C:
	case <-w.queue.urgent:
		w.timer.Stop()
	}
}

// write writes whole lines. Those that fail are lost, not tried again: trying
// would stop the lines behind them.
func (w *writer) write(lines []byte) {
	if len(lines) == 0 {
		return
	}
	n, err := 0, w.mend()
	if err == nil {
		n, err = writeAll(w.out, lines)
	}
	if err == nil {
		return
	}
	lost := bytes.Count(lines[n:], []byte{'\n'})
	if n > 0 {
		w.torn = lines[n-1] != '\n'
	}
	if n > 0 && w.torn && lines[n] == '\n' {
		lost-- // only the line feed is missing, and mend adds it
	}
	w.queue.fail(lost)
	w.report(fmt.Errorf("write %s: %w", w.name, err))
}

// mend ends a line that a failed write has cut, so that the damage stays with
// that line and the next one is valid.
func (w *writer) mend() error {
	if !w.torn {
		return nil
	}
	_, err := writeAll(w.out, []byte{'\n'})
	w.torn = err != nil
	return err
}

// writeAll is out.Write, with a count within the slice and an error for every
// short write, also from a Writer that breaks its own rules.
func writeAll(out io.Writer, p []byte) (int, error) {
	n, err := out.Write(p)
	n = min(max(n, 0), len(p))
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// replace closes the file and goes on with next.
func (w *writer) replace(next io.WriteCloser) {
	if err := w.close(); err != nil {
		w.queue.fail(0)
		w.report(err)
	}
	w.out, w.closer, w.torn = next, next, false
}

// close leaves the file at the end of a line if it can, because the next
// process, or the next file of the same name, goes on where this one ends.
func (w *writer) close() error {
	mendErr := w.mend()
	if w.closer == nil {
		return nil
	}
	if err := w.closer.Close(); err != nil {
		return fmt.Errorf("close %s: %w", w.name, err)
	}
	if mendErr != nil {
		return fmt.Errorf("end the last line of the %s: %w", w.name, mendErr)
	}
	return nil
}

func (w *writer) report(err error) {
	w.unreported++
	now := time.Now()
	if w.onError == nil || !w.reported.IsZero() && now.Sub(w.reported) < reportEvery {
		return
	}
	n := w.unreported
	w.unreported, w.reported = 0, now
	w.onError(fmt.Errorf("%w (failures since the last report: %d)", err, n))
}
