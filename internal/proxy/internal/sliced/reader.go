package sliced

import (
	"errors"
	"io"
	"time"

	"edgeproxy/internal/http/rfc9111"
)

// ErrChanged ends an answer in the midst of which the representation has become another one.
var ErrChanged = errors.New("the representation has changed between two slices")

// Head is what the response says of itself that a slice comes from.
type Head struct {
	Part           rfc9111.Part           // which bytes it has; without a Size it is no part
	Representation rfc9111.Representation // whose part it is, as a 200 would say it
	Stored         bool                   // it is stored, and not on its way
	Received       time.Time              // when, if it is stored
	// Tells says that a response which is not the slice that was asked for says what the
	// representation is now, and not only that the slice could not be had.
	Tells bool
}

// Slice is one slice, stored or on its way. Its methods are called by one goroutine.
type Slice interface {
	// Head is also known after Close.
	Head() Head
	// Read reads from the place at of the slice on. The places of one slice never go back. What
	// it reads comes without an error.
	Read(b []byte, at int64) (int, error)
	// Leave ends the reading where nothing more is wanted of the slice. It may go on for others.
	Leave()
	// Close ends the reading where the answer ends before its time.
	Close()
}

// Source has the slices of one representation.
type Source[S Slice] interface {
	// Find returns the slice of this number if it is stored, no matter how old it is.
	Find(number int64) (s S, ok bool)
	// Get returns the slice of this number, from the store or from an origin. Where the origin
	// answers with something else, that is the slice.
	Get(number int64) (S, error)
	// Discard removes a stored slice.
	Discard(s S)
	// Resume is called when the reading of s has failed, and the bytes rest of the representation
	// are still wanted of it.
	Resume(s S, err error, rest rfc9111.Range) Again
}

// Again is how an answer goes on whose slice could not be read to its end.
type Again int

// How it goes on.
const (
	Ends    Again = iota // it does not
	Resumed              // s has another source for the rest
	Anew                 // another slice takes its place, which Get gives
)

// Reader is the way of one answer through the slices. It belongs to one goroutine. The zero
// Reader is not ready: see New.
type Reader[S Slice] struct {
	source Source[S]
	size   int64 // bytes of a slice

	whole int64                  // bytes of the representation
	rep   rfc9111.Representation // all slices must belong to it
	tells int64                  // the number of the slice that says so

	slice   S // the one that is read, if there is one
	number  int64
	open    bool
	at, end int64 // the next byte to read, and where the answer ends
}

// New returns a Reader of slices of size bytes.
func New[S Slice](source Source[S], size int64) Reader[S] {
	return Reader[S]{source: source, size: size}
}

// Begin makes s, the slice of this number, the one by which others are measured, and the one
// that is read. It reports false if s is no part.
func (r *Reader[S]) Begin(s S, number int64) bool {
	head := s.Head()
	if head.Part.Size == 0 {
		return false
	}
	r.whole, r.rep, r.tells = head.Part.Size, head.Representation, number
	r.slice, r.number, r.open = s, number, true
	return true
}

// Size returns the bytes of a slice.
func (r *Reader[S]) Size() int64 { return r.size }

// Whole returns the representation that the slices belong to, and how many bytes it has.
func (r *Reader[S]) Whole() (rep rfc9111.Representation, size int64) { return r.rep, r.whole }

// Select says which bytes of the representation are the answer.
func (r *Reader[S]) Select(first, length int64) { r.at, r.end = first, first+length }

// Slice returns the slice that is read; ok is false before the first byte of one and between two.
func (r *Reader[S]) Slice() (s S, ok bool) { return r.slice, r.open }

// OneIsEnough reports whether the answer needs no other slice than the one that is read.
func (r *Reader[S]) OneIsEnough() bool {
	return r.end == r.at || r.at/r.size == r.number && (r.end-1)/r.size == r.number
}

// Open gets the slice of the first byte, unless it is the one that Begin was given.
func (r *Reader[S]) Open() error {
	if r.at == r.end {
		return nil
	}
	return r.turnTo(r.at / r.size)
}

// Read gives the next bytes of the answer.
func (r *Reader[S]) Read(b []byte) (int, error) {
	for r.at < r.end {
		if err := r.turnTo(r.at / r.size); err != nil {
			return 0, err
		}
		in := r.at % r.size
		n, err := r.slice.Read(b[:min(int64(len(b)), r.end-r.at, r.size-in)], in)
		r.at += int64(n)
		switch {
		case err != nil && r.resumes(err):
		case n > 0 && (r.at%r.size == 0 || r.at == r.end):
			r.Leave()
			return n, nil
		case errors.Is(err, io.EOF):
			return n, io.ErrUnexpectedEOF
		case n > 0 || err != nil:
			return n, err
		}
	}
	return 0, io.EOF
}

// resumes reports whether the answer goes on after a failure of the slice that is read.
func (r *Reader[S]) resumes(err error) bool {
	rest := rfc9111.Range{First: r.at, Last: min((r.number+1)*r.size, r.whole) - 1}
	again := r.source.Resume(r.slice, err, rest)
	if again == Anew {
		r.Leave()
	}
	return again != Ends
}

// turnTo makes the slice of this number the one that is read.
func (r *Reader[S]) turnTo(number int64) error {
	if r.open && r.number == number {
		return nil
	}
	r.Leave()
	s, err := r.source.Get(number)
	if err != nil {
		return err
	}
	if !r.Belongs(s, number) {
		s.Close()
		if s, err = r.another(s, number); err != nil {
			return err
		}
	}
	r.slice, r.number, r.open = s, number, true
	return nil
}

// Belongs reports whether s is the slice of this number of the representation that the answer
// has begun with.
func (r *Reader[S]) Belongs(s S, number int64) bool {
	head := s.Head()
	return head.Part.Size == r.whole && Matches(Span(r.size, number), head.Part) && rfc9111.SameStrongly(r.rep, head.Representation)
}

// another is called with a slice that does not belong. The newer response says what the
// representation is now: an older slice is forgotten, and fetched again if it is this one. If
// the older is what the answer began with, the answer cannot go on.
func (r *Reader[S]) another(s S, number int64) (S, error) {
	var none S
	head := s.Head()
	tells, found := r.source.Find(r.tells)
	if !head.Stored || found && tells.Head().Received.Before(head.Received) {
		if found && head.Tells && rfc9111.SameStrongly(tells.Head().Representation, r.rep) {
			r.source.Discard(tells)
		}
		return none, ErrChanged
	}
	r.source.Discard(s)
	again, err := r.source.Get(number)
	if err != nil {
		return none, err
	}
	if !r.Belongs(again, number) {
		again.Close()
		return none, ErrChanged
	}
	return again, nil
}

// Leave ends the reading of the slice of which nothing more is wanted here.
func (r *Reader[S]) Leave() { r.drop(S.Leave) }

// Close ends the answer. It may be called again.
func (r *Reader[S]) Close() { r.drop(S.Close) }

// drop ends the slice that is read, if there is one.
func (r *Reader[S]) drop(end func(S)) {
	if !r.open {
		return
	}
	var none S
	end(r.slice)
	r.slice, r.open = none, false
}
