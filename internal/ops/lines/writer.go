package lines

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// reportEvery is the shortest time between two calls of onError. On a full disk
// every write fails, and the reports often go to the same disk.
const reportEvery = time.Minute

// writer moves batches from the queue to the file. One goroutine owns it.
type writer struct {
	name        string
	queue       *queue
	out         io.Writer
	closer      io.Closer // nil: out is not closed
	onError     func(error)
	minInterval time.Duration // 0: no wait between two writes
	timer       *time.Timer   // timer of the wait; nil before the first one

	torn       bool // the file ends in the middle of a line
	unreported int
	reported   time.Time
}

// run writes until the queue is closed and empty, and returns the error of closing
// the file.
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
		w.waitForMore()
	}
}

// waitForMore waits until a busy log has more to write.
func (w *writer) waitForMore() {
	if w.minInterval <= 0 {
		return
	}
	if w.timer == nil {
		w.timer = time.NewTimer(w.minInterval)
	} else {
		w.timer.Reset(w.minInterval)
	}
	select {
	case <-w.timer.C:
	case <-w.queue.urgent:
		w.timer.Stop()
	}
}

// write writes whole lines. It does not retry failed ones, which are lost: a retry
// would delay the lines after them.
func (w *writer) write(lines []byte) {
	if len(lines) == 0 {
		return
	}
	n, err := 0, w.endTornLine()
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
		lost-- // only the line feed is missing, and endTornLine adds it
	}
	w.queue.fail(lost)
	w.report(fmt.Errorf("write %s: %w", w.name, err))
}

// endTornLine ends a line that a failed write has cut off, so that only this line is
// damaged and the next one is valid.
func (w *writer) endTornLine() error {
	if !w.torn {
		return nil
	}
	_, err := writeAll(w.out, []byte{'\n'})
	w.torn = err != nil
	return err
}

// writeAll calls out.Write. Even if out violates the contract of io.Writer, the count
// is within the slice and every short write has an error.
func writeAll(out io.Writer, p []byte) (int, error) {
	n, err := out.Write(p)
	n = min(max(n, 0), len(p))
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// replace closes the file and continues with next.
func (w *writer) replace(next io.WriteCloser) {
	if err := w.close(); err != nil {
		w.queue.fail(0)
		w.report(err)
	}
	w.out, w.closer, w.torn = next, next, false
}

// close ends a torn line, if it can, and closes the file. The next process appends
// to the same file.
func (w *writer) close() error {
	mendErr := w.endTornLine()
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
