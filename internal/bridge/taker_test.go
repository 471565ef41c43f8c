package bridge

import (
	"net/http/httptest"
	"testing"
	"time"

	"edgeproxy/internal/pace"
)

// TestAStreamThatTrickledFromItsBeginningHadAllOfWriteIdle: its first piece was of 16 KiB,
// whatever the pace asked for, and nothing is known of a piece before all of it was taken.
func TestAStreamThatTrickledFromItsBeginningHadAllOfWriteIdle(t *testing.T) {
	const idle = 30 * time.Second
	f := func(name string, send pace.Rate, took time.Duration, piece int, want time.Duration, exact bool) {
		t.Helper()
		to := newTaker(httptest.NewRecorder(), idle, send)
		if to.piece != piece {
			t.Errorf("%s: got a first piece of %d bytes, want %d", name, to.piece, piece)
		}
		to.meter.Add(0, took)
		if got, is := to.patience(to.piece); got != want || is != exact {
			t.Errorf("%s: got %v, %v; want %v, %v", name, got, is, want, exact)
		}
	}

	f("a short period", pace.Rate{Bytes: 4 << 10, Over: 2 * time.Second}, 0, 4<<10, 2*time.Second, true)
	f("a part of it is over", pace.Rate{Bytes: 4 << 10, Over: 2 * time.Second}, 1500*time.Millisecond, 4<<10, 500*time.Millisecond, true)
	f("more than a frame", pace.Rate{Bytes: 1 << 20, Over: 2 * time.Second}, 0, firstPiece, 2*time.Second, true)
	f("next to nothing", pace.Rate{Bytes: 1, Over: 2 * time.Second}, 0, leastPiece, idle, false)
	f("a long period", pace.Rate{Bytes: 1 << 10, Over: time.Minute}, 0, firstPiece, idle, false)
	f("no pace", pace.Rate{}, 0, firstPiece, idle, false)
}
