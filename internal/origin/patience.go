package origin

import (
	"context"
	"os"
	"sync"
	"time"
)

// patience bounds the time that an origin takes when it is its turn, on a connection whose deadline is not that
// of one request alone. Where the time is up the request is cancelled.
type patience struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// begin begins a wait of at most limit.
func (p *patience) begin(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
	case p.timer == nil:
		p.timer = time.AfterFunc(limit, func() { p.cancel(os.ErrDeadlineExceeded) })
	default:
		p.timer.Reset(limit)
	}
}

// end ends the wait.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
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
