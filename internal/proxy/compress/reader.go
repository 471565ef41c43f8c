package compress

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Source is what is encoded.
type Source interface {
	io.Reader
	// AtHand reports whether Read has something to give without a wait, the end and an error included. Where it says
	// no, what was read is given out before the next Read.
	AtHand() bool
}

// Counts are of one coding. Each response is counted when its first byte is encoded.
type Counts struct {
	Responses atomic.Int64
	In, Out   atomic.Int64 // bytes before and behind the encoder
}

// errClosed is what Read returns behind Close.
var errClosed = errors.New("the body was closed")

// MostOpen bounds the readers that are open at once, and so the memory of encoders: clients and origins that take their time
// hold one each.
const MostOpen = 256

var open atomic.Int64

// Open returns how many readers are open.
func Open() int64 { return open.Load() }

// Reader is a body in its coding. One goroutine reads it; Close may be called from any, and has to be.
type Reader struct {
	src    Source
	coding Coding
	level  Level
	counts *Counts

	m    *machine // nil: not yet, or no longer
	open bool     // among those that are bounded
	out  sink
	err  error // the error behind what is in out; nil: it goes on

	mu     sync.Mutex
	busy   bool // reading
	closed bool
}

// NewReader returns what src is by the coding, which is not None; nil where MostOpen others are not at their end. It takes an
// encoder with the first Read and gives it back at the end, at an error or with Close. The caller owns src, and counts may be shared.
func NewReader(src Source, c Coding, l Level, counts *Counts) *Reader {
	if open.Add(1) > MostOpen {
		open.Add(-1)
		return nil
	}
	return &Reader{src: src, coding: c, level: l, counts: counts, open: true}
}

// Read gives the next bytes. io.EOF comes behind the end of the coding, and that behind the io.EOF of the source alone. Any other
// end of the source is returned as it is.
func (r *Reader) Read(p []byte) (int, error) {
	if !r.enter() {
		return 0, r.why()
	}
	defer r.leave()
	if len(p) == 0 {
		return 0, nil
	}
	for r.out.empty() && r.err == nil {
		r.step()
	}
	if n := r.out.read(p); n > 0 {
		return n, nil
	}
	return 0, r.err
}

// Finish encodes the rest of the source, which has to be at hand and short, and returns how many bytes Read will give. It
// reports false where the source has not ended as it should; Read says why.
func (r *Reader) Finish() (size int64, ok bool) {
	if !r.enter() {
		return 0, false
	}
	defer r.leave()
	for r.err == nil {
		r.step()
	}
	return int64(r.out.len()), r.err == io.EOF //nolint:errorlint // an error that wraps it is no end
}

// Close gives back what r holds, if need be when a Read that is under way has ended. It always returns nil.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if !r.busy {
		r.release()
	}
	return nil
}

// why returns what the source says of being closed.
func (r *Reader) why() error {
	if _, err := r.src.Read(nil); err != nil && err != io.EOF { //nolint:errorlint // an error that wraps it is no end
		return err
	}
	return errClosed
}

func (r *Reader) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = !r.closed
	return r.busy
}

// leave is deferred: behind a panic the encoder is nobody's.
func (r *Reader) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy = false; r.closed {
		r.release()
	}
}

// release gives the memory of r back.
func (r *Reader) release() {
	r.giveBack()
	r.out.drop()
}

func (r *Reader) giveBack() {
	if r.open {
		r.open = false
		open.Add(-1)
	}
	if r.m != nil {
		spare[r.coding][r.level].Put(r.m)
		r.m = nil
	}
}

// step reads once and encodes what has come.
func (r *Reader) step() {
	m := r.m
	if r.m = nil; m == nil { // it is back in r.m unless there is a panic
		if m, r.err = take(r.coding, r.level, &r.out); r.err != nil {
			return
		}
		r.counts.Responses.Add(1)
	}
	had := r.out.len()
	n, err := r.src.Read(m.in)
	r.counts.In.Add(int64(n))
	failed := m.write(n)
	switch {
	case failed != nil:
		r.err = failed
	case err == io.EOF: //nolint:errorlint // an error that wraps it is no end
		if r.err = m.Close(); r.err == nil {
			r.err = io.EOF
		}
	case err != nil:
		r.err = err
	case !r.src.AtHand():
		r.err = m.Flush()
	}
	r.counts.Out.Add(int64(r.out.len() - had))
	r.m = m
	if r.err != nil {
		r.giveBack()
	}
}

// write encodes the first n bytes of what was read.
func (m *machine) write(n int) error {
	if n == 0 {
		return nil
	}
	_, err := m.Write(m.in[:n])
	return err
}
