package spool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// ErrFull is the error of a write beyond the bound of all files.
var ErrFull = errors.New("spool: full")

// Spool is a folder and a bound. It is safe for concurrent use.
type Spool struct {
	folder  string
	limit   int64
	turn    chan struct{} // has a token while a file is written
	used    atomic.Int64
	files   atomic.Int64
	written atomic.Int64
	failed  atomic.Int64
}

// Stats are what a Spool holds, and has done since its start.
type Stats struct {
	Bytes, Files int64 // held now
	Written      int64 // bytes, ever
	Failed       int64 // writes that failed or found no room, and files that could not be made
}

// New returns a Spool in folder, of limit bytes. It tries whether a file can be made there,
// and removed while it is open; the error says why not.
func New(folder string, limit int64) (*Spool, error) {
	s := &Spool{folder: folder, limit: limit, turn: make(chan struct{}, 1)}
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	return s, f.Close()
}

// Stats returns what s holds and has done. They are read while files are written.
func (s *Spool) Stats() Stats {
	return Stats{Bytes: s.used.Load(), Files: s.files.Load(), Written: s.written.Load(), Failed: s.failed.Load()}
}

// Open makes a file. It must be closed.
func (s *Spool) Open() (*File, error) {
	f, err := unnamed(s.folder)
	if err != nil {
		s.failed.Add(1)
		return nil, fmt.Errorf("spool: %w", err)
	}
	s.files.Add(1)
	return &File{spool: s, file: f}, nil
}

// removed makes a file in folder and removes it. A process that is killed in between leaves
// it, empty.
func removed(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, ".edgeproxy-spool-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// File is one file of a Spool. One goroutine writes; others may read what it has written.
type File struct {
	spool *Spool
	file  *os.File

	mu     sync.Mutex
	taken  int64 // bytes taken of the bound
	closed bool
}

// WriteAt writes p at off, or returns ErrFull. One file of a Spool is written at a time: a disk
// does no more, and what is read ahead of slow clients leaves the other cores to hits.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if !f.take(off + int64(len(p))) {
		f.spool.failed.Add(1)
		return 0, ErrFull
	}
	f.spool.turn <- struct{}{}
	n, err := f.file.WriteAt(p, off)
	<-f.spool.turn
	f.spool.written.Add(int64(n))
	if err != nil {
		f.spool.failed.Add(1)
	}
	return n, err
}

// take has the bound give f as much as size takes.
func (f *File) take(size int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	more := size - f.taken
	if more <= 0 {
		return !f.closed
	}
	if f.closed || f.spool.used.Add(more) > f.spool.limit {
		if !f.closed {
			f.spool.used.Add(-more)
		}
		return false
	}
	f.taken = size
	return true
}

// give gives back what f has of the bound.
func (f *File) give(closes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spool.used.Add(-f.taken)
	f.taken = 0
	if closes && !f.closed {
		f.closed = true
		f.spool.files.Add(-1)
	}
}

// ReadAt reads what was written at off.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.file.ReadAt(p, off) }

// Reset makes f empty.
func (f *File) Reset() error {
	if err := f.file.Truncate(0); err != nil {
		return err
	}
	f.give(false)
	return nil
}

// Close lets go of the file and of what is in it.
func (f *File) Close() error {
	err := f.file.Close()
	f.give(true) // not before: until then the disk has it
	return err
}
