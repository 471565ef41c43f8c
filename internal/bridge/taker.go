package bridge

import (
	"errors"
	"net/http"
	"time"

	"edgeproxy/internal/pace"
)

// errSlow ends an answer whose client takes it below the least pace.
var errSlow = errors.New("bridge: the answer is taken too slowly")

// An answer is written in pieces, whose size follows the pace at which they are taken. net/http
// tells only when all of a piece was taken.
const (
	firstPiece = 16 << 10 // one frame
	leastPiece = 256
	quick      = 100 * time.Millisecond // a client that takes a piece in less gets larger ones
	slow       = time.Second            // and one that takes longer, smaller ones
)

// taker writes an answer to the client of a stream. Each piece may take idle. The answer is
// held to the pace of meter, which counts only the time for which the client was waited for.
type taker struct {
	w       http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	meter   pace.Meter
	piece   int
	kept    bool // something was written and not sent off
}

// newTaker returns one whose first piece is no more than the pace asks for: a client that
// trickles from the beginning is known by it.
func newTaker(w http.ResponseWriter, idle time.Duration, send pace.Rate) *taker {
	t := &taker{w: w, control: http.NewResponseController(w), idle: idle, meter: pace.NewMeter(send), piece: firstPiece}
	if send.Bytes > 0 && send.Over < idle {
		t.piece = max(leastPiece, int(min(firstPiece, send.Bytes)))
	}
	return t
}

// patience is how long a piece of n bytes may take. exact says that a client that takes longer
// is below the pace, since the pace asks for all of the piece.
func (t *taker) patience(n int) (d time.Duration, exact bool) {
	if left, ok := t.meter.Left(); ok && left < t.idle && int64(n) <= t.meter.Lacks() {
		return left, true
	}
	return t.idle, false
}

// write writes p and, with flush, sends it off.
//
// It leaves no deadline behind, for what comes next may be long in coming, and net/http may
// set one on a stream that has ended meanwhile: its timer would keep the stream, with all
// of the request's body that nobody has read, for as long.
func (t *taker) write(p []byte, flush bool) error {
	defer func() { _ = t.control.SetWriteDeadline(time.Time{}) }()
	for len(p) > 0 {
		n := min(len(p), t.piece)
		patience, exact := t.patience(n)
		began := time.Now()
		_ = t.control.SetWriteDeadline(began.Add(patience))
		if _, err := t.w.Write(p[:n]); err != nil {
			if exact && time.Since(began) >= patience {
				return errSlow
			}
			return err
		}
		t.kept = true
		if p = p[n:]; len(p) == 0 && flush {
			_ = t.control.Flush()
			t.kept = false
		}
		took := time.Since(began)
		if t.meter.Add(n, took) {
			return errSlow
		}
		t.adapt(took)
	}
	return nil
}

// last gives what net/http has kept its time. What comes behind it, the end of the stream,
// waits for no window.
func (t *taker) last() {
	if !t.kept {
		return
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(t.idle))
	_ = t.control.Flush()
	_ = t.control.SetWriteDeadline(time.Time{})
}

// adapt chooses the next piece by how long the last one took.
func (t *taker) adapt(took time.Duration) {
	switch {
	case took < quick:
		t.piece = min(2*t.piece, answerBuffer)
	case took > slow:
		t.piece = max(t.piece/4, leastPiece)
	}
}
