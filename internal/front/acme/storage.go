package acme

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/caddyserver/certmagic"
)

// storage is a folder of files that counts the locks held on it. Each order holds a lock
// from its first step to its last. Folders below it have mode 0700, files 0600.
type storage struct {
	*certmagic.FileStorage

	idle   chan struct{} // closed once storage is closed and no lock is held
	mu     sync.Mutex    // guards what follows
	locks  int           // number of locks held
	closed bool
}

// errClosed is the error of an order that begins after close.
var errClosed = errors.New("the storage is closed")

// openStorage opens the folder, makes it if need be, and checks that it is writable.
func openStorage(path string) (*storage, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return &storage{FileStorage: &certmagic.FileStorage{Path: path}, idle: make(chan struct{})}, probe(path)
}

// CheckStorage returns what is wrong with a folder for Options.Storage, and changes
// nothing. A folder that does not exist yet is fine.
func CheckStorage(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", path)
	}
	return probe(path)
}

// probe checks that a folder is writable: it creates a file and removes it.
func probe(path string) error {
	f, err := os.CreateTemp(path, ".probe-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Lock implements certmagic.Locker.
func (s *storage) Lock(ctx context.Context, name string) error {
	if err := s.FileStorage.Lock(ctx, name); err != nil {
		return err
	}
	return s.enter(ctx, name)
}

// TryLock implements certmagic.TryLocker.
func (s *storage) TryLock(ctx context.Context, name string) (bool, error) {
	ok, err := s.FileStorage.TryLock(ctx, name)
	if ok && err == nil {
		err = s.enter(ctx, name)
	}
	return ok && err == nil, err
}

// enter counts a lock that was acquired. If the storage is closed, it releases the lock and
// returns errClosed.
func (s *storage) enter(ctx context.Context, name string) error {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.locks++
	}
	s.mu.Unlock()
	if closed {
		return errors.Join(errClosed, s.FileStorage.Unlock(ctx, name))
	}
	return nil
}

// Unlock implements certmagic.Locker.
func (s *storage) Unlock(ctx context.Context, name string) error {
	defer s.leave()
	return s.FileStorage.Unlock(ctx, name)
}

func (s *storage) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks--
	if s.closed && s.locks == 0 {
		close(s.idle)
	}
}

// close refuses further locks and waits until none is held. The contexts of the holders
// must have ended. It may be called only once.
func (s *storage) close() {
	s.mu.Lock()
	s.closed = true
	if s.locks == 0 {
		close(s.idle)
	}
	s.mu.Unlock()
	<-s.idle
}

// missing reports whether err says that a file does not exist.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
