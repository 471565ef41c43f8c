package bridge

import (
	"errors"
	"net/http"
	"time"

	"edgeproxy/internal/pace"
)

// errSlow ends an answer whose client takes it below the least pace.
var errSlow = errors.New("bridge: the answer is taken too slowly")

// An answer is written in pieces, whose size follows the pace at which they are taken: net/http
// tells that a piece has gone, and nothing before.
const (
	firstPiece = 16 << 10 // one frame
	leastPiece = 256
	quick      = 100 * time.Millisecond // who takes a piece in less gets larger ones
	slow       = time.Second            // and who takes longer, smaller ones
)

// taker writes an answer to the client of a stream. Each piece has idle, and the whole the
// pace of meter, of which only the time counts for which the client was waited for.
type taker struct {
	w       http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	meter   pace.Meter
	piece   int
}

// write writes p and, with flush, sends it off.
func (t *taker) write(p []byte, flush bool) error {
	for len(p) > 0 {
		n := min(len(p), t.piece)
		began := time.Now()
		_ = t.control.SetWriteDeadline(began.Add(t.idle))
		if _, err := t.w.Write(p[:n]); err != nil {
			return err
		}
		if p = p[n:]; len(p) == 0 && flush {
			_ = t.control.Flush()
		}
		took := time.Since(began)
		if t.meter.Add(n, took) {
			return errSlow
		}
		t.adapt(took)
	}
	_ = t.control.SetWriteDeadline(time.Time{}) // what comes next may be long in coming
	return nil
}

// last gives what net/http has kept its time.
func (t *taker) last() { _ = t.control.SetWriteDeadline(time.Now().Add(t.idle)) }

// adapt chooses the next piece by how long the last one took.
func (t *taker) adapt(took time.Duration) {
	switch {
	case took < quick:
		t.piece = min(2*t.piece, answerBuffer)
	case took > slow:
		t.piece = max(t.piece/4, leastPiece)
	}
}
