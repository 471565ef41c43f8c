package disk

import (
	"sync/atomic"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// volume is one opening of a directory, from Open until it is closed or has failed.
//
// Its parts are cut by who may use them. What is in shared locks by itself. The reader serves look-ups, in the goroutines of requests. The loader
// fills the index and makes it grow, in goroutines of its own. The writer is one goroutine, and all below it is that goroutine's.
//
// A lock is taken before those to the right of it: loader.growing, queue.mu, the index's own. No other lock is taken under segments.mu,
// and none under the locks of pins, patches, rate and the buffers.
type volume struct {
	shared
	release func() // ends the claim on the directory
	reader  reader
	loader  loader
	writer  writer
	drafts  drafts
}

// shared are the parts that reader, loader and writer have in common. Each is safe for concurrent use.
type shared struct {
	o      Options // it does not change
	counts *counts
	files
	health
	abilities
	changes
	segments segments
	index    *index.Table
	queue    *queue
	pins     *pins // one for all openings: a record found in an earlier one may still be read
	patches  *patches
	rate     rate
}

// abilities say what can be done with the directory and its files.
type abilities struct {
	readOnly bool        // it does not change once the volume has started
	punches  atomic.Bool // large records are punched out one by one
	lends    atomic.Bool // records may be lent: a hole does not change bytes that are being sent
	direct   atomic.Bool // the last segment is written past the page cache
}

// drafts are the limits of the drafts that are open.
type drafts struct {
	open    atomic.Int64 // number of drafts
	pledged atomic.Int64 // bytes that drafts have reserved together
}

func newVolume(o Options, c *counts, f files) *volume {
	v := &volume{shared: shared{
		o: o, counts: c, files: f,
		health: health{
			now: o.Now, deadline: o.Deadline, counts: c,
			stop: make(chan struct{}), ended: make(chan struct{}), broke: make(chan struct{}),
		},
		changes:  changes{forgot: newHashes(), missed: newHashes()},
		segments: segments{maxBytes: o.MaxBytes, segmentBytes: f.head.SegmentBytes, slots: make([]atomic.Pointer[segment], slotCount)},
		index:    index.NewTable(o.objects()), queue: newQueue(o.QueueBytes), pins: &pins{}, patches: newPatches(o.patches()),
		rate: rate{perSecond: o.WriteRate, left: o.WriteRate, since: o.Now()},
	}}
	v.recent.Store(newHashes())
	v.segments.can = &v.abilities
	v.reader.shared, v.reader.turns = &v.shared, make(chan struct{}, o.Reads)
	v.loader.shared = &v.shared
	v.writer.shared, v.writer.loader = &v.shared, &v.loader
	return v
}

// put takes a record. See Store.Put.
func (v *volume) put(p *put) error {
	shape, err := layout.ShapeOf(len(p.Key), len(p.Block), int64(len(p.Body)))
	switch {
	case err != nil || shape.BodyBytes > v.o.MaxObjectBytes:
		err = ErrTooLarge
	case v.readOnly:
		err = ErrReadOnly
	case v.failed():
		err = ErrOff
	case !v.rate.allows(v.o.Now()):
		err = ErrRate
	default:
		p.shape = shape
		if err = v.queue.add(p); err == nil {
			v.forgot.add(p.Hash)
			if v.failed() { // perhaps the writer has ended, and does not take it
				v.missed.add(p.Hash)
			}
			return nil
		}
	}
	v.remove(p.Hash)
	return err
}

// complete is Store.Complete.
func (v *volume) complete() bool {
	if v.readOnly || v.failed() || v.partial.Load() || v.hidden.Load() > 0 {
		return false
	}
	return !v.segments.areFilling()
}

// keep waits until all removals so far are on the disk.
func (v *volume) keep() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.keep(), nil)
}

// flushAll waits until all records put so far are written and in the index.
func (v *volume) flushAll() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.clear(), nil)
}

// close ends the writer and all other goroutines, and waits for them. The writer seals the open segments if it can.
func (v *volume) close() {
	close(v.stop)
	v.wg.Wait()
	for i := range v.segments.slots {
		if s := v.segments.slots[i].Swap(nil); s != nil {
			s.letGo()
		}
	}
	if v.writer.log != nil {
		_ = v.writer.log.file.Close()
	}
	if v.writer.notes != nil {
		_ = v.writer.notes.Close()
	}
	_ = v.dir.Close()
	v.release()
}
