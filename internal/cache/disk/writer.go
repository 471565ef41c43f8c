package disk

import (
	"errors"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// run is the one goroutine that changes the disk. It ends with stop, or when the volume has failed.
func (v *volume) run() {
	defer v.wg.Done()
	defer close(v.ended)
	tick := time.NewTicker(v.o.every)
	defer tick.Stop()
	for {
		stopped := false
		select {
		case <-v.queue.wake:
		case <-tick.C:
		case <-v.broke:
		case <-v.stop:
			stopped = true
		}
		v.round(v.queue.take())
		if v.failed() {
			v.abandon()
			return
		}
		if stopped {
			v.finishAll()
			return
		}
	}
}

// round does the work w, and what is due by time.
func (v *volume) round(w work) {
	for _, d := range w.deaths {
		if v.failed() {
			break
		}
		v.freeDead(d)
	}
	for _, n := range w.notes {
		v.log.pending = v.head.AppendPatched(v.log.pending, n)
	}
	for _, p := range w.puts {
		v.writePut(p)
	}
	v.queue.giveBack(w.puts)
	if len(w.keeps) > 0 {
		err := v.syncRemovals()
		for _, done := range w.keeps {
			done <- err
		}
	}
	if len(w.clears) > 0 {
		err := v.flushOpen()
		for _, done := range w.clears {
			done <- err
		}
	}
	for _, a := range w.asks {
		v.queue.answer(a, a.do())
	}
	now := v.o.Now()
	if now.Sub(v.checkedAt) >= v.o.every || now.Before(v.checkedAt) {
		v.checkedAt = now
		v.look(now)
	}
}

// freeDead logs a removal, and frees the record's bytes if it has whole pages.
func (v *volume) freeDead(d deadRecord) {
	v.log.add(v.head, layout.Removed{Segment: d.segment.number, Offset: d.offset})
	v.counts.removed.Add(1)
	if d.segment.kind != layout.Large || !v.punches.Load() || v.slot(d.segment.number).Load() != d.segment {
		return
	}
	var fixed [layout.Unit]byte
	read := func() error { _, err := d.segment.file.Load().ReadAt(fixed[:], d.offset); return err }
	if v.call(read) != nil {
		return // the hand frees it later
	}
	if shape, err := v.head.Need(fixed[:], d.segment.number, d.offset); err == nil {
		v.freeLogged(freeing{seg: d.segment, offset: d.offset, bytes: shape.Bytes, logged: true})
	}
}

func (v *volume) isListed(s *segment) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return s.listed
}

// writePut writes one record, or gives it up.
func (v *volume) writePut(p *put) {
	if v.failed() {
		v.missed.add(p.Hash) // what it replaces is still on the disk
		v.queue.finish(p, nil)
		return
	}
	if v.queue.isGone(p) {
		v.queue.finish(p, nil)
		return
	}
	v.replace(p.Hash) // also a record of another key that the index cannot tell apart; and even if p is given up
	if v.makeRoom(p.shape.Bytes) != nil {
		v.queue.finish(p, nil)
		v.counts.full.Add(1)
		return
	}
	v.takeDead()
	v.serial++
	p.Serial = v.serial
	if err := v.store(&p.Record, p.shape, pendingRecord{put: p}); errors.Is(err, errNoSpace) {
		v.shrink()
	}
}

// shrink lowers the limit, as the file system turned out to be full, until measureRoom sets it again.
func (v *volume) shrink() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.limit = min(v.limit, v.used-v.used/32)
}

// takeDead handles the records that just left the index, so that they are logged before their replacements are written.
func (v *volume) takeDead() {
	v.queue.mu.Lock()
	deaths := v.queue.deaths
	v.queue.deaths = nil
	v.queue.mu.Unlock()
	for _, d := range deaths {
		v.freeDead(d)
	}
}

// flushOpen writes the buffers of the open segments.
func (v *volume) flushOpen() error {
	var errs []error
	for _, a := range v.open {
		if a != nil {
			errs = append(errs, v.flush(a))
		}
	}
	return errors.Join(errs...)
}

// look does the periodic work.
func (v *volume) look(now time.Time) {
	if err := v.dir.Lost(); errors.Is(err, device.ErrLost) {
		v.fail(err)
		return
	}
	if v.readOnly {
		return
	}
	v.measureRoom()
	v.patches.prune(now, v.index)
	v.watchIndex()
	stuck := v.stuck
	v.stuck = nil
	v.free(stuck) // and records that readers have released
	for _, a := range v.open {
		if a != nil && len(a.buffer) > 0 && now.Sub(a.since) >= flushAfter {
			_ = v.flush(a)
		}
	}
	if err := v.logRemovals(); err == nil {
		v.shortenRemovals()
	}
	_ = v.makeRoom(0)
	if now.Sub(v.settled) >= settleAfter || now.Before(v.settled) {
		v.settled = now
		v.settle()
	}
}

// settleAfter is how long what was put or removed is remembered for the next opening at least, and how often it is made durable instead.
const settleAfter = 10 * time.Second

// settle makes all removals so far durable. After that the next opening need not know what was put or removed before.
func (v *volume) settle() {
	if v.before == nil {
		if v.recent.Load().empty() && !v.owed {
			return
		}
		v.before = v.recent.Swap(newHashes()) // who still has the old one has told the writer of the removal
	}
	filled := v.forgot.done.Load()
	if v.syncRemovals() != nil || v.hidden.Load() > 0 {
		return
	}
	v.before = nil
	v.owed = v.owed && !filled
}

// unsettled returns to the next opening what may not be on the disk.
func (v *volume) unsettled() {
	v.missed.merge(v.recent.Load())
	if v.before != nil {
		v.missed.merge(v.before)
	}
	if v.owed {
		v.missed.merge(v.forgot)
	}
}

// measureRoom sets the limit by the free bytes of the file system.
func (v *volume) measureRoom() {
	limit := v.o.MaxBytes
	if v.o.MinFree > 0 {
		room, err := v.dir.Room()
		v.mu.Lock()
		if err == nil {
			limit = min(limit, v.used+room.Free-v.o.MinFree)
		}
		v.mu.Unlock()
	}
	v.mu.Lock()
	v.limit = max(limit, 0)
	v.mu.Unlock()
	v.sayRoom(max(limit, 0))
}

// sayRoom logs that the file system has less room than MaxBytes, and when that is over.
func (v *volume) sayRoom(limit int64) {
	switch {
	case !v.short && limit < v.o.MaxBytes-v.o.MaxBytes/16:
		v.short = true
		v.o.Log.Warn("the file system of the disk tier is nearly full: the tier is limited to less than max_bytes", "path", v.o.Path, "limit_bytes", limit, "max_bytes", v.o.MaxBytes, "min_free", v.o.MinFree)
	case v.short && limit == v.o.MaxBytes:
		v.short = false
		v.o.Log.Info("the file system of the disk tier has room again: the limit is max_bytes", "path", v.o.Path)
	}
}

// abandon gives up all that waits in the queue. It leaves to the next opening what was replaced or removed, and may still be on the disk.
func (v *volume) abandon() {
	for _, a := range v.open {
		if a != nil {
			for _, l := range a.landing {
				v.missed.add(l.entry.Hash) // it may be in the file, and have been removed since
				v.end(l, l.entry.Hash)
			}
		}
	}
	v.open = [2]*appender{}
	w := v.queue.take()
	for _, p := range w.puts {
		v.missed.add(p.Hash)
		v.queue.finish(p, nil)
	}
	v.unsettled()
	for _, done := range append(w.keeps, w.clears...) {
		done <- *v.failure.Load()
	}
	for _, a := range w.asks {
		v.queue.answer(a, *v.failure.Load())
	}
}

// finishAll seals the open segments, for a clean end.
func (v *volume) finishAll() {
	if v.readOnly {
		return
	}
	_ = v.seal(layout.Small)
	_ = v.seal(layout.Large)
	v.endDrafts()
	_ = v.syncRemovals()
	_ = v.call(v.dir.Sync)
}
