package flight

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lifetime is the context of one flight. It does what a context of context.WithCancel does, for
// less: no parent has it in a map, since the table ends its flights itself, and it makes a channel
// only if somebody asks for one. The zero value has not ended.
type lifetime struct {
	mu    sync.Mutex
	over  atomic.Bool   // set under mu
	done  chan struct{} // nil: nobody has asked
	calls *call         // a list of the calls that AfterFunc has asked for
	first call          // the first of them, in place: most lifetimes have one
}

// call is one function of AfterFunc.
type call struct {
	l          *lifetime
	f          func()
	stop       func() bool // the method value forget, kept because each new one is an allocation
	next, prev *call
	listed     bool
}

// AfterFunc calls f in a goroutine of its own once l has ended. stop prevents that, and reports
// whether it was in time. context.AfterFunc calls this method where a context has it.
func (l *lifetime) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.first
	if c.l != nil {
		c = &call{}
	}
	if c.l, c.f = l, f; c.stop == nil {
		c.stop = c.forget
	}
	if l.over.Load() {
		go f()
		return c.stop
	}
	if c.next = l.calls; c.next != nil {
		c.next.prev = c
	}
	l.calls, c.listed = c, true
	return c.stop
}

// forget takes c out of the list, and reports whether it was there.
func (c *call) forget() bool {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if !c.listed {
		return false
	}
	c.listed = false
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		c.l.calls = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	return true
}

// end ends l. Only the first call does anything.
func (l *lifetime) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over.Swap(true) {
		return
	}
	if l.done != nil {
		close(l.done)
	}
	for c := l.calls; c != nil; c = c.next {
		c.listed = false
		go c.f()
	}
	l.calls = nil
}

// Done implements context.Context.
func (l *lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.over.Load() {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *lifetime) Err() error {
	if l.over.Load() {
		return context.Canceled
	}
	return nil
}

// Deadline implements context.Context: there is none.
func (*lifetime) Deadline() (at time.Time, ok bool) { return time.Time{}, false }

// Value implements context.Context: there is none.
func (*lifetime) Value(any) any { return nil }
