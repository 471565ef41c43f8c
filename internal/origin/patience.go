package origin

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

// patience bounds the time that an origin takes when it is its turn, on a connection whose deadline is not that
// of one request alone. Where the time is up the request is cancelled.
type patience struct {
	cancel context.CancelCauseFunc
	socket net.Conn // closed where a wait goes on for stuckFor although it was cancelled; nil: none does

	mu    sync.Mutex
	timer *time.Timer
	waits bool
	late  bool // the wait was cancelled
	over  bool
}

// stuckFor is how long the library may take for what was cancelled. It waits without a limit for its turn to write on the
// connection, while somebody's write there makes no progress.
const stuckFor = 500 * time.Millisecond

// begin begins a wait of at most limit.
func (p *patience) begin(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.waits, p.late = true, false
	if p.timer == nil {
		p.timer = time.AfterFunc(limit, p.up)
	} else {
		p.timer.Reset(limit)
	}
}

// up is called when the time is up.
func (p *patience) up() {
	p.cancel(os.ErrDeadlineExceeded)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.waits, p.socket == nil:
	case p.late:
		_ = p.socket.Close()
	default:
		p.late = true
		p.timer.Reset(stuckFor)
	}
}

// end ends the wait.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = false
	if p.timer != nil {
		p.timer.Stop()
	}
}

// close ends the wait, and has no other begin.
func (p *patience) close() {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
