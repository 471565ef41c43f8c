package readahead

import (
	"errors"
	"io"
	"net/netip"
	"sync/atomic"
	"time"

	"edgeproxy/internal/proxy/internal/flight"
)

// Body is the body of a response for one client. At first the goroutine that serves the client reads it. Once the client has
// kept it waiting for slowAfter in all, another goroutine reads ahead of the client.
//
// The zero Body is none; Bodies.Begin makes it one, and it must not be copied after that. Only the goroutine that serves the client may
// call Read and Sent. Any goroutine may call Close, also twice; later reads fail.
type Body struct {
	bodies *Bodies
	src    io.ReadCloser
	client netip.Prefix
	state  atomic.Int32 // one of the states below
	since  atomic.Int64 // when the client was last given something, in ns
	waited time.Duration
	stream *flight.Stream // once it is read ahead

	next, prev *Body // in bodies; guarded by its mutex
	listed     bool
}

// The states of a body that may be read ahead. Reading: the client's goroutine reads from the
// origin. Writing: it waits for the client to take what it has read. Pumped: another goroutine
// reads from the origin, and the client's reads what that one has.
const (
	stateReading int32 = iota
	stateWriting
	statePumped
)

// Begun reports whether Bodies.Begin was called with a.
func (a *Body) Begun() bool { return a.bodies != nil }

// Read implements io.Reader: the next bytes, from the source or from what was read ahead.
func (a *Body) Read(p []byte) (int, error) {
	if a.state.CompareAndSwap(stateWriting, stateReading) {
		a.waited += time.Duration(a.bodies.now().UnixNano() - a.since.Load())
		if a.waited >= slowAfter && a.bodies.pump(a, stateReading) {
			return a.stream.Read(p)
		}
	}
	if a.state.Load() == statePumped {
		if a.stream == nil {
			return 0, io.ErrClosedPipe
		}
		return a.stream.Read(p)
	}
	return a.src.Read(p)
}

// Sent notes that what was read is about to be written, at this time. The zero Body notes nothing.
func (a *Body) Sent(at time.Time) {
	if !a.Begun() {
		return
	}
	a.since.Store(at.UnixNano())
	a.state.CompareAndSwap(stateReading, stateWriting)
}

// Close ends the reading, and what reads ahead, and closes the source. The body must be Begun.
func (a *Body) Close() error {
	a.bodies.remove(a)
	_ = a.src.Close()
	if a.state.Swap(statePumped) == statePumped && a.stream != nil {
		a.stream.Close()
	}
	return nil
}

// errPanicked ends a body in whose midst something has panicked.
var errPanicked = errors.New("panic")

// run reads the source to its end, or until the client has gone.
func (a *Body) run() {
	defer func() {
		if v := recover(); v != nil {
			a.bodies.panics.Note(v)
			_ = a.src.Close()
			a.stream.End(errPanicked)
		}
	}()
	for {
		room := a.stream.Space()
		n, err := a.src.Read(room)
		if n > 0 {
			a.stream.Commit(n)
		}
		if err != nil {
			if err == io.EOF { // a failure that wraps io.EOF is no end
				err = nil
			}
			a.stream.End(err)
			return
		}
	}
}
