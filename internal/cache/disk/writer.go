package disk

import (
	"errors"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// writer is the one goroutine that changes the disk. It is made of layers: each embeds the one that it calls, so that none calls back.
//
//	ranges      write drafts
//	evictor     makes room
//	appenders   write records
//	reclaimer   frees what has left
//	journal     logs removals
type writer struct {
	ranges
	checkedAt time.Time // when look was last called
	settled   time.Time // when settle was last called
	short     bool      // the file system has less room than MaxBytes, and that was logged
}

// run is the one goroutine that changes the disk. It ends with stop, or when the volume has failed.
func (w *writer) run() {
	defer w.wg.Done()
	defer close(w.ended)
	tick := time.NewTicker(w.o.every)
	defer tick.Stop()
	for {
		stopped := false
		select {
		case <-w.queue.wake:
		case <-tick.C:
		case <-w.broke:
		case <-w.stop:
			stopped = true
		}
		w.round(w.queue.take())
		if w.failed() {
			w.abandon()
			return
		}
		if stopped {
			w.finishAll()
			return
		}
	}
}

// round does the work todo, and what is due by time.
func (w *writer) round(todo work) {
	for _, d := range todo.deaths {
		if w.failed() {
			break
		}
		w.freeDead(d)
	}
	for _, n := range todo.notes {
		w.log.pending = w.head.AppendPatched(w.log.pending, n)
	}
	for _, p := range todo.puts {
		w.writePut(p)
	}
	w.queue.giveBack(todo.puts)
	if len(todo.keeps) > 0 {
		err := w.syncRemovals()
		for _, done := range todo.keeps {
			done <- err
		}
	}
	if len(todo.clears) > 0 {
		err := w.flushOpen()
		for _, done := range todo.clears {
			done <- err
		}
	}
	for _, a := range todo.asks {
		w.queue.answer(a, a.do())
	}
	now := w.o.Now()
	if now.Sub(w.checkedAt) >= w.o.every || now.Before(w.checkedAt) {
		w.checkedAt = now
		w.look(now)
	}
}

// writePut writes one record, or gives it up.
func (w *writer) writePut(p *put) {
	if w.failed() {
		w.missed.add(p.Hash) // what it replaces is still on the disk
		w.queue.finish(p, nil)
		return
	}
	if w.queue.isGone(p) {
		w.queue.finish(p, nil)
		return
	}
	w.replace(p.Hash) // also a record of another key that the index cannot tell apart; and even if p is given up
	if w.makeRoom(p.shape.Bytes) != nil {
		w.queue.finish(p, nil)
		w.counts.full.Add(1)
		return
	}
	w.takeDead()
	w.serial++
	p.Serial = w.serial
	if err := w.store(&p.Record, p.shape, pendingRecord{put: p}); errors.Is(err, errNoSpace) {
		w.segments.shrink()
	}
}

// flushOpen writes the buffers of the open segments.
func (w *appenders) flushOpen() error {
	var errs []error
	for _, a := range w.open {
		if a != nil {
			errs = append(errs, w.flush(a))
		}
	}
	return errors.Join(errs...)
}

// look does the periodic work.
func (w *writer) look(now time.Time) {
	if err := w.dir.Lost(); errors.Is(err, device.ErrLost) {
		w.fail(err)
		return
	}
	if w.readOnly {
		return
	}
	w.measureRoom()
	w.patches.prune(now, w.index)
	w.loader.watchIndex()
	stuck := w.stuck
	w.stuck = nil
	w.free(stuck) // and records that readers have released
	for _, a := range w.open {
		if a != nil && len(a.buffer) > 0 && now.Sub(a.since) >= flushAfter {
			_ = w.flush(a)
		}
	}
	if err := w.logRemovals(); err == nil {
		w.shortenRemovals()
	}
	_ = w.makeRoom(0)
	if now.Sub(w.settled) >= settleAfter || now.Before(w.settled) {
		w.settled = now
		w.settle()
	}
}

// settleAfter is how long what was put or removed is remembered for the next opening at least, and how often it is made durable instead.
const settleAfter = 10 * time.Second

// settle makes all removals so far durable. After that the next opening need not know what was put or removed before.
func (w *writer) settle() {
	if w.before == nil {
		if w.recent.Load().empty() && !w.owed {
			return
		}
		w.before = w.recent.Swap(newHashes()) // who still has the old one has told the writer of the removal
	}
	filled := w.forgot.done.Load()
	if w.syncRemovals() != nil || w.hidden.Load() > 0 {
		return
	}
	w.before = nil
	w.owed = w.owed && !filled
}

// measureRoom sets the limit by the free bytes of the file system.
func (w *writer) measureRoom() {
	free := w.o.MaxBytes
	if w.o.MinFree > 0 {
		if room, err := w.dir.Room(); err == nil {
			free = room.Free - w.o.MinFree
		}
	}
	w.sayRoom(w.segments.setLimit(free))
}

// sayRoom logs that the file system has less room than MaxBytes, and when that is over.
func (w *writer) sayRoom(limit int64) {
	switch {
	case !w.short && limit < w.o.MaxBytes-w.o.MaxBytes/16:
		w.short = true
		w.o.Log.Warn("the file system of the disk tier is nearly full: the tier is limited to less than max_bytes", "path", w.o.Path, "limit_bytes", limit, "max_bytes", w.o.MaxBytes, "min_free", w.o.MinFree)
	case w.short && limit == w.o.MaxBytes:
		w.short = false
		w.o.Log.Info("the file system of the disk tier has room again: the limit is max_bytes", "path", w.o.Path)
	}
}

// abandon gives up all that waits in the queue. It leaves to the next opening what was replaced or removed, and may still be on the disk.
func (w *writer) abandon() {
	for _, a := range w.open {
		if a != nil {
			for _, l := range a.landing {
				w.missed.add(l.entry.Hash) // it may be in the file, and have been removed since
				w.end(l, l.entry.Hash)
			}
		}
	}
	w.open = [2]*appender{}
	todo := w.queue.take()
	for _, p := range todo.puts {
		w.missed.add(p.Hash)
		w.queue.finish(p, nil)
	}
	w.unsettled()
	for _, done := range append(todo.keeps, todo.clears...) {
		done <- *w.failure.Load()
	}
	for _, a := range todo.asks {
		w.queue.answer(a, *w.failure.Load())
	}
}

// finishAll seals the open segments, for a clean end.
func (w *writer) finishAll() {
	if w.readOnly {
		return
	}
	_ = w.seal(layout.Small)
	_ = w.seal(layout.Large)
	w.endDrafts()
	_ = w.syncRemovals()
	_ = w.call(w.dir.Sync)
}
