package http2

import (
	"sync"
	"time"
)

// deadline is one of a stream. The connection's mutex guards it.
type deadline struct {
	timer  *time.Timer
	turn   int // number of the last set: a timer of an earlier one does nothing
	passed bool
}

// set makes f be called at t, under mu, unless set is called again before. The zero time is no deadline.
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

// clear removes the deadline, so that its timer keeps no stream in memory.
func (d *deadline) clear() {
	d.turn++
	d.passed = false
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
