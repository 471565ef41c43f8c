package origin

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

// waitLimit bounds each wait for the origin in one stream of HTTP/2. The deadline of the connection cannot do that,
// because other streams share it. When the time is up the request is canceled.
type waitLimit struct {
	cancel context.CancelCauseFunc
	socket net.Conn // closed if a wait goes on for stuckFor after it was canceled; nil: nothing is closed

	mu       sync.Mutex
	timer    *time.Timer
	waiting  bool
	canceled bool // the wait was canceled
	closed   bool
}

// stuckFor is how long the library may take to end a wait that was canceled. It waits without a limit to write on the
// connection while a write of another stream makes no progress.
const stuckFor = 500 * time.Millisecond

// begin begins a wait of at most limit.
func (p *waitLimit) begin(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.waiting, p.canceled = true, false
	if p.timer == nil {
		p.timer = time.AfterFunc(limit, p.expired)
	} else {
		p.timer.Reset(limit)
	}
}

// expired is called when the time is up.
func (p *waitLimit) expired() {
	p.cancel(os.ErrDeadlineExceeded)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.waiting, p.socket == nil:
	case p.canceled:
		_ = p.socket.Close()
	default:
		p.canceled = true
		p.timer.Reset(stuckFor)
	}
}

// end ends the wait.
func (p *waitLimit) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	if p.timer != nil {
		p.timer.Stop()
	}
}

// close ends the wait. No other wait can begin after that.
func (p *waitLimit) close() {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
