package sendfile

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/conn/rescue"
)

// Least is the length in bytes of the shortest body that gets a copy. A shorter one costs as much
// by sendfile as by a copy.
const Least = 16 << 10

const (
	// every is how often a body is sent without a copy before one is made, and each time that
	// was refused. To make one costs less than two sendings, so a copy that is soon lost
	// costs its body an eighth at most.
	every = 16
	// objectShare is the part of MaxBytes that one copy may take.
	objectShare = 4
	// mostCopies bounds the descriptors, and so does the part of those that the process may have.
	mostCopies      = 1024
	descriptorShare = 16
	// queue is how many bodies may wait for a copy. Others ask again.
	queue = 16
	// page is what memory of a file is made of.
	page = 4 << 10
)

// Options say how large Copies may be.
type Options struct {
	// MaxBytes bounds the memory of all copies; 0 is none.
	MaxBytes int64
	// Panics notes panics of the goroutine; nil notes none.
	Panics *rescue.Counter
	// Log gets a line when a copy cannot be made, once. It may not be nil.
	Log *slog.Logger
}

// Copies are all copies of one cache. One goroutine makes them. It is safe for concurrent use; nil has
// no copies.
type Copies struct {
	o      Options
	bytes  atomic.Int64
	open   atomic.Int64 // files, those of copies in use too
	failed atomic.Bool  // no copy can be made here

	wanted  chan body
	most    int64 // files
	closing chan struct{}
	running sync.WaitGroup
	once    sync.Once

	// Of the goroutine:

	all    []*Copy
	hand   int  // in all; the next to go, unless it was taken since
	warned bool // the log says that a copy could not be made
}

// body is one that is to have a copy.
type body struct {
	slot  *Slot
	bytes []byte
}

// New returns Copies, which run until Close. Where the system has no files in memory, or MaxBytes has no
// room for the shortest copy, it returns nil.
func New(o Options) *Copies {
	if !supported || o.MaxBytes/objectShare < Least {
		return nil
	}
	c := &Copies{o: o, most: int64(min(mostCopies, descriptors()/descriptorShare)), wanted: make(chan body, queue), closing: make(chan struct{})}
	c.running.Go(c.run)
	return c
}

// Close lets go of all copies. Those that are being sent from are there until they are released.
func (c *Copies) Close() {
	if c == nil {
		return
	}
	c.once.Do(func() {
		close(c.closing)
		c.running.Wait()
		c.failed.Store(true)
		for _, each := range c.all {
			each.slot.empty()
		}
		c.all = nil
	})
}

// Bytes returns how much memory the copies take now, whole pages each. It is never above MaxBytes.
func (c *Copies) Bytes() int64 {
	if c == nil {
		return 0
	}
	return c.bytes.Load()
}

// Files returns how many files of copies are open now, those that are still being sent from too.
func (c *Copies) Files() int64 {
	if c == nil {
		return 0
	}
	return c.open.Load()
}

// Take returns the copy of the body whose slot this is, until Release; nil if it has none. Then it is
// noted that the body is asked for, and may get one: b is all of it, which is only read, also after Take
// has returned. Take allocates nothing and waits for nobody.
func (c *Copies) Take(s *Slot, b []byte) *Copy {
	if c == nil || len(b) < Least {
		return nil
	}
	if found := s.copy.Load(); found != nil {
		if found.take() {
			return found
		}
		return nil
	}
	if s.asked.Add(1)%every == 0 && !c.failed.Load() {
		select {
		case c.wanted <- body{s, b}:
		default:
		}
	}
	return nil
}

func (c *Copies) run() {
	for {
		select {
		case <-c.closing:
			return
		case b := <-c.wanted:
			c.guarded(func() { c.make(b) })
		}
	}
}

// guarded runs f. A panic in it is noted.
func (c *Copies) guarded(f func()) {
	defer func() {
		if v := recover(); v != nil {
			c.o.Panics.Note(v)
		}
	}()
	f()
}

// make makes a copy of b, if there is room or what is there is asked for less.
func (c *Copies) make(b body) {
	size := (int64(len(b.bytes)) + page - 1) / page * page
	if size > c.o.MaxBytes/objectShare || b.slot.gone.Load() || b.slot.copy.Load() != nil || !c.room(size) {
		return
	}
	c.bytes.Add(size)
	file, err := newFile(b.bytes)
	if err != nil {
		c.bytes.Add(-size)
		c.refused(err)
		return
	}
	c.open.Add(1)
	made := &Copy{of: c, slot: b.slot, file: file, bytes: size}
	made.users.Store(1) // the slot
	c.all = append(c.all, made)
	b.slot.copy.Store(made)
	if b.slot.gone.Load() { // meanwhile
		b.slot.empty()
	}
}

// refused notes that the system has refused a file: for ever, or since memory or descriptors are short
// now.
func (c *Copies) refused(err error) {
	c.failed.Store(never(err))
	if !c.warned {
		c.warned = true
		c.o.Log.Warn("a copy of a large body cannot be made for sendfile", "error", err)
	}
}

// room makes room for size bytes, and reports whether there is: not where all copies were taken since
// the hand came by last, and not before those that go are released.
func (c *Copies) room(size int64) bool {
	c.forget()
	for left := len(c.all); c.bytes.Load()+size > c.o.MaxBytes || c.open.Load() >= c.most; left-- {
		if left <= 0 {
			return false
		}
		if c.hand >= len(c.all) {
			c.hand = 0
		}
		oldest := c.all[c.hand]
		if oldest.recent.Swap(false) {
			c.hand++
			continue
		}
		oldest.slot.empty()
		c.all = append(c.all[:c.hand], c.all[c.hand+1:]...)
	}
	return true
}

// forget removes those from all whose slot has dropped them.
func (c *Copies) forget() {
	kept := c.all[:0]
	for _, each := range c.all {
		if each.slot.copy.Load() == each {
			kept = append(kept, each)
		}
	}
	clear(c.all[len(kept):])
	c.all = kept
}
