package http2

import (
	"sync"
	"time"
)

// deadline is one of a stream. The connection's mutex guards it.
type deadline struct {
	timer  *time.Timer
	turn   int // of the last set: a timer that has run by then counts no more
	passed bool
}

// set has f called at t, under mu, if that comes before the next set. The zero time is none.
func (d *deadline) set(t time.Time, mu *sync.Mutex, f func()) {
	d.clear()
	if t.IsZero() {
		return
	}
	turn := d.turn
	wait := until(t)
	if wait <= 0 {
		d.passed = true
		f()
		return
	}
	d.timer = time.AfterFunc(wait, func() {
		mu.Lock()
		defer mu.Unlock()
		if d.turn == turn {
			d.passed = true
			f()
		}
	})
}

// clear takes it back. It keeps no stream in memory then.
func (d *deadline) clear() {
	d.turn++
	d.passed = false
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
