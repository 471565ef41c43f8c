// Package rescue keeps a panic from ending more than what panicked.
//
// It answers one question: what has panicked, and how often did that happen?
//
// A panic that is not recovered ends the process, and every request in it. So each goroutine
// of the program recovers panics where it begins, gives back what it holds, and notes the
// panic here.
package rescue

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// Error is a panic as an error.
type Error struct {
	Value any
	Stack []byte
}

// Error returns the value, without the stack.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Counter counts panics and tells the log of each, with its stack. It is safe for
// concurrent use; nil notes nothing.
type Counter struct {
	log   *slog.Logger
	count atomic.Int64
}

// NewCounter returns a Counter that writes to log.
func NewCounter(log *slog.Logger) *Counter { return &Counter{log: log} }

// Count returns how many panics were noted.
func (c *Counter) Count() int64 {
	if c == nil {
		return 0
	}
	return c.count.Load()
}

// Note counts the panic with the value v, which the caller has just recovered.
func (c *Counter) Note(v any) { c.NoteError(&Error{Value: v, Stack: debug.Stack()}) }

// Caught is Note, and returns the panic as an error.
func (c *Counter) Caught(v any) *Error {
	e := &Error{Value: v, Stack: debug.Stack()}
	c.NoteError(e)
	return e
}

// NoteError counts a panic that is an error already.
func (c *Counter) NoteError(e *Error) {
	if c == nil {
		return
	}
	c.count.Add(1)
	c.log.Error("request panicked", "panic", fmt.Sprint(e.Value), "stack", string(e.Stack))
}

// Into is to be deferred: a panic becomes the error, and is noted.
func (c *Counter) Into(err *error) {
	if v := recover(); v != nil {
		*err = c.Caught(v)
	}
}

// Quietly runs f. A panic in it is noted, and is its end.
func (c *Counter) Quietly(f func()) {
	defer func() {
		if v := recover(); v != nil {
			c.Note(v)
		}
	}()
	f()
}
