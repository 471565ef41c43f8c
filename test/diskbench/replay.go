package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/process"
	"edgeproxy/internal/lab/trace"
)

// rival is what the same requests meet beside the store.
type rival struct {
	name    string
	max     int64
	queue   *model.Queue
	tallied tally
}

// tally is what came of the requests.
type tally struct {
	requests, hits, requestBytes, hitBytes, stored int64
}

func (t *tally) line(out io.Writer, name string, written int64, took time.Duration) {
	fmt.Fprintf(out, "  %-12s hits %6.2f %%  byte hits %6.2f %%  stored %8.1f MB  written %8.1f MB  ÷ stored %5.3f  %6.1f s\n", name,
		100*float64(t.hits)/float64(t.requests), 100*float64(t.hitBytes)/float64(t.requestBytes),
		float64(t.stored)/1e6, float64(written)/1e6, float64(written)/float64(max(t.stored, 1)), took.Seconds())
}

// ask asks for an object, which is stored if it is admitted and not there.
func (r *rival) ask(object uint32, size int64, admitted bool) {
	r.tallied.requests++
	r.tallied.requestBytes += size
	if r.queue.Hit(object) {
		r.tallied.hits++
		r.tallied.hitBytes += size
	} else if admitted && size <= r.max/8 {
		r.queue.Store(object)
		r.tallied.stored += size
	}
}

// replay plays the traces.
func (o *options) replay(ctx context.Context, dir string, out io.Writer) error {
	for _, name := range o.traces {
		tr, err := trace.Read(ctx, []string{name}, trace.Options{Limit: o.limit})
		if err != nil {
			return err
		}
		err = o.replayOne(ctx, dir, name, tr, out)
		if err2 := tr.Close(); err == nil {
			err = err2
		}
		if err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) replayOne(ctx context.Context, dir, name string, tr *trace.Trace, out io.Writer) error {
	facts := tr.Facts()
	most := o.bytes
	if most == 0 {
		most = max(int64(o.share*float64(facts.ChargedBytes())), disk.MinBytes)
	}
	objects := tr.Objects()
	p := player{objects: objects, tenth: facts.Requests / 10, body: make([]byte, 1<<30>>4), seen: map[uint32]int64{}, window: 4 * most, most: most}
	fill(p.body)
	defer p.close()
	if err := p.open(dir); err != nil {
		return err
	}
	ring := &rival{name: "FIFO ring", max: most, queue: model.NewQueue(objects, most, false)}
	lru := &rival{name: "exact LRU", max: most, queue: model.NewQueue(objects, most, true)}
	wrote, err := process.WrittenBySelf()
	if err != nil {
		return err
	}
	began := time.Now()
	for pass := 0; pass < o.passes || float64(p.tallied.stored) < o.times*float64(most); pass++ {
		if pass > 0 {
			if err := o.between(&p, dir, out, time.Since(began)); err != nil {
				return err
			}
		}
		if err := p.play(ctx, tr, ring, lru); err != nil {
			return err
		}
	}
	took := time.Since(began)
	after, err := process.WrittenBySelf()
	if err != nil {
		return err
	}
	st := p.store.Stats()
	fmt.Fprintf(out, "replay %s: %d requests, %d objects, %.1f MB, store of %.1f MB, admitted on the second request within %.1f MB\n",
		name, facts.Requests, facts.Objects, float64(facts.UniqueBytes)/1e6, float64(most)/1e6, float64(p.window)/1e6)
	p.tallied.line(out, "store", after-wrote, took)
	ring.tallied.line(out, ring.name, ring.tallied.stored, 0)
	lru.tallied.line(out, lru.name, lru.tallied.stored, 0)
	fmt.Fprintf(out, "  the store's device bytes are %.3f of the ring's; by its own count it wrote %.1f MB, %.1f MB of it anew; evicted %d small, %d large (%d in demand), left %d segments for a lap; direct %v, punches %v\n",
		float64(after-wrote)/float64(ring.tallied.stored), float64(st.WriteBytes)/1e6, float64(st.RewriteBytes)/1e6, st.EvictedSmall, st.EvictedLarge, st.OverBudget, st.Stays, st.WritesDirectly, st.Punches)
	if st.Full+st.Dropped+st.Damaged+st.Failures > 0 {
		return fmt.Errorf("something went wrong: %+v", st)
	}
	return nil
}

// between does what the command line says of the time between two passes.
func (o *options) between(p *player, dir string, out io.Writer, took time.Duration) error {
	if o.times > 0 {
		p.tellPass(out, took)
	}
	if !o.restart {
		return nil
	}
	p.close()
	return p.open(dir)
}

// open opens the store, which has what it had when it was closed.
func (p *player) open(dir string) (err error) {
	p.store, err = disk.Open(disk.Options{Path: dir, MaxBytes: p.most, MeanObjectBytes: 4096, QueueBytes: 64 << 20})
	return err
}

func (p *player) close() {
	if p.store != nil {
		p.store.Close()
		p.store = nil
	}
}

// play plays all requests once, and waits until what they stored is written.
func (p *player) play(ctx context.Context, tr *trace.Trace, rivals ...*rival) error {
	asked, hits := int64(0), p.tallied.hits
	if err := tr.Each(ctx, func(batch []trace.Access) error {
		for _, a := range batch {
			size, admitted := p.objects[a.Object].Size, p.sight(a.Object)
			for _, r := range rivals {
				r.ask(a.Object, size, admitted)
			}
			if err := p.ask(a.Object, size, admitted); err != nil {
				return err
			}
			if asked++; asked == p.tenth {
				p.early = float64(p.tallied.hits-hits) / float64(asked)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return p.store.Flush()
}

// tellPass prints how it goes in a long run.
func (p *player) tellPass(out io.Writer, took time.Duration) {
	st := p.store.Stats()
	fmt.Fprintf(out, "  %5.1f times its size stored: %.2f %% hits in the first tenth of the pass, %d segments, %6.0f µs a write of %.0f KB, %.0f s\n", float64(p.tallied.stored)/float64(p.most), 100*p.early, st.Segments,
		float64(st.WriteTimes.Sum.Microseconds())/float64(max(st.WriteTimes.Count(), 1)), float64(st.WriteBytes)/float64(max(st.Writes, 1))/1e3, took.Seconds())
}

// player asks the store.
type player struct {
	store   *disk.Store
	objects []trace.Object
	body    []byte
	seen    map[uint32]int64 // when each object was asked for last, in bytes asked for
	clock   int64
	window  int64
	most    int64
	tenth   int64   // a tenth of the requests of a pass
	early   float64 // hits of these, in the last pass
	queued  int64   // since what waits was looked at last
	tallied tally
	hit     disk.Hit
}

// sight notes a request and reports whether it is the second one within the window. A window is as long as it takes to be
// asked for that many bytes of objects that were not admitted.
func (p *player) sight(object uint32) bool {
	last, ok := p.seen[object]
	admitted := ok && p.clock-last <= p.window
	if !admitted {
		p.clock += p.objects[object].Size
	}
	p.seen[object] = p.clock
	return admitted
}

func (p *player) ask(object uint32, size int64, admitted bool) error {
	p.tallied.requests++
	p.tallied.requestBytes += size
	var key [12]byte
	binary.LittleEndian.PutUint64(key[:], p.objects[object].Lo)
	binary.LittleEndian.PutUint32(key[8:], object)
	if p.store.Find(p.objects[object].Hi, key[:], &p.hit) {
		if p.hit.Size() != size {
			return fmt.Errorf("object %d: got %d bytes, must be %d", object, p.hit.Size(), size)
		}
		p.hit.Close()
		p.tallied.hits++
		p.tallied.hitBytes += size
		return nil
	}
	if !admitted || size > p.most/8 {
		return nil
	}
	at := int64(object) * 4099 % (1 << 20)
	for {
		err := p.store.Put(p.objects[object].Hi, append([]byte(nil), key[:]...), p.body[:200], p.body[at:at+min(size, int64(len(p.body))-at)])
		if err == nil {
			p.tallied.stored += size
			return p.wait(size)
		}
		if err := p.store.Flush(); err != nil { // a replay is faster than any client
			return err
		}
	}
}

// wait keeps what waits to be written, and is found there, at a small part of the store: a replay is faster than any device, and the queue would be a
// second store.
func (p *player) wait(size int64) error {
	most := max(p.most/64, 256<<10)
	if p.queued += size; p.queued < most/2 {
		return nil
	}
	for last, stuck := int64(0), 0; ; {
		p.queued = p.store.Stats().WaitingBytes
		switch {
		case p.queued < most:
			p.queued = 0
			return nil
		case stuck == 300: // it waits for the rest of a buffer
			return p.store.Flush()
		case p.queued != last:
			last, stuck = p.queued, 0
		}
		stuck++
		<-time.After(100 * time.Microsecond)
	}
}

// fill makes bytes that no device can make shorter.
func fill(b []byte) {
	x := uint64(1)
	for i := range len(b) / 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
}
