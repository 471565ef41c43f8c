package demo

import (
	"context"
	"time"
)

// maxBehind bounds what is made up after a delay. Beyond it the requests missed
// are never sent: a laptop that wakes up must not meet a burst.
const maxBehind = 100 * time.Millisecond

// pace spaces events evenly. Not for concurrent use.
type pace struct {
	interval time.Duration
	due      time.Time // when the next event is due; zero before the first
}

// wait returns when the next event is due, or false when ctx ends first.
func (p *pace) wait(ctx context.Context) bool {
	now := time.Now()
	if now.Sub(p.due) > maxBehind {
		p.due = now
	}
	left := p.due.Sub(now)
	p.due = p.due.Add(p.interval)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil // both may be ready
}
