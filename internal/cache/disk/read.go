package disk

import (
	"time"

	"edgeproxy/internal/cache/disk/device"
)

// readAt reads from f. Bytes in the page cache are read at once. For others it waits for a turn, and then for the device, both for a bounded
// time. After ErrSlow p belongs to the read that goes on, and nobody may use it.
func (v *volume) readAt(f *device.File, p []byte, offset int64) (int, error) {
	if f.ReadNow(p, offset) {
		return len(p), nil
	}
	if v.failed() {
		return 0, ErrSlow
	}
	select {
	case v.turns <- struct{}{}:
	default:
		timer := time.NewTimer(v.o.ReadWait)
		defer timer.Stop()
		select {
		case v.turns <- struct{}{}:
		case <-timer.C:
			v.counts.queuedOut.Add(1)
			return 0, ErrSlow
		}
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() { // it may hang until the device answers
		began := v.o.Now()
		n, err := f.ReadAt(p, offset)
		v.counts.read(int64(n), v.o.Now().Sub(began))
		<-v.turns
		done <- result{n, err}
	}()
	timer := time.NewTimer(v.o.ReadDeadline)
	defer timer.Stop()
	select {
	case r := <-done:
		v.slow.Store(0)
		return r.n, r.err
	case <-timer.C:
		v.slow.Add(1)
		return 0, ErrSlow
	}
}
