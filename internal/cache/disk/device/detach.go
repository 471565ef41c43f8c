package device

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// The system sends a file (sendfile) from the pages of its page cache. They wait in the socket until the client takes them, long after the call. A change
// of such a page changes what the client gets. A hole takes a page that lies in it out of the page cache, as it is. A page that lies only partly in the hole
// stays, and the hole writes zeros into that part. Such pages exist where the file system has large ones (XFS since Linux 5.18, ext4 since 6.16), or where the
// system's pages are longer than 4 KiB.

// ErrCached says that the page cache still has a page that was to leave it. Later it may leave.
var ErrCached = errors.New("device: the page is in the page cache still")

// edgeBytes is how much is written to take a page out of the page cache: the least that can be written past it everywhere.
const edgeBytes = 4096

// detachTries is how often a page is taken out of the page cache before ErrCached: a reader of its other part may have it there again.
const detachTries = 8

// Detach sees that a Punch of the same range, of multiples of 4 KiB, changes no page that the system may be sending: pages that lie only partly in the
// range leave the page cache as they are, and later readers get others. For that it writes the first and the last 4 KiB of the range once more, past the page cache;
// where the page cache does not have them, it does nothing. It returns how many bytes it has written. Errors: ErrCached, ErrUnsupported
// (CanDetach), or one of the file system.
func (f *File) Detach(offset, bytes int64) (written int64, err error) {
	var past *os.File
	defer func() {
		if past != nil {
			_ = past.Close()
		}
	}()
	last := offset + bytes - edgeBytes
	for at := offset; ; at = last {
		if f.MayBeCached(at, edgeBytes) {
			if past == nil {
				if past, err = pastTheCache(f.fd); err != nil {
					return written, err
				}
			}
			n, err := f.detachAt(past, at)
			if written += n; err != nil {
				return written, err
			}
		}
		if at >= last {
			return written, nil
		}
	}
}

// CanDetach reports whether Detach does what it says in this directory, by trying it on f, which has at least 4 KiB: a pipe has its first page meanwhile, as a socket
// would, and may not see what is written to it then. Afterwards f is as it was.
func (f *File) CanDetach() bool {
	if f.reachesOut() {
		return false
	}
	was := make([]byte, edgeBytes)
	if _, err := f.ReadAt(was, 0); err != nil { // now the page cache has it
		return false
	}
	pages, ok := cached(f.fd, 0, edgeBytes)
	f.dir.blind.Store(!ok || pages == 0)
	held, err := hold(f.fd, edgeBytes)
	if err != nil {
		return false
	}
	defer func() { _ = held.Close() }() // it was only read
	if _, err := f.Detach(0, edgeBytes); err != nil {
		return false
	}
	return f.keepsApart(held, was)
}

// keepsApart reports whether held, which has the first page of f, does not see a write to it.
func (f *File) keepsApart(held io.Reader, was []byte) bool {
	other := make([]byte, len(was))
	for i := range other {
		other[i] = ^was[i]
	}
	if _, err := f.file.WriteAt(other, 0); err != nil {
		return false
	}
	got := make([]byte, len(was))
	_, readErr := io.ReadFull(held, got)
	_, err := f.file.WriteAt(was, 0)
	return readErr == nil && err == nil && bytes.Equal(got, was)
}

// reachesOut reports whether a hole may change pages beside it. XFS takes whole blocks, or whole pages of the system, out of the page cache, and of what it has in a longer
// page it zeroes all of such a block, also what lies before or behind the hole: where neither is longer than 4 KiB, nothing does.
func (f *File) reachesOut() bool { return blockBytes(f.fd) > edgeBytes || os.Getpagesize() > edgeBytes }

// MayBeCached reports whether the page cache has a part of a range, and where the system does not tell that it has. The file must not be closed
// meanwhile.
func (f *File) MayBeCached(offset, bytes int64) bool {
	if f.dir.blind.Load() {
		return true
	}
	pages, ok := cached(f.fd, offset, bytes)
	return !ok || pages > 0
}

// detachAt takes the pages at offset out of the page cache.
func (f *File) detachAt(past *os.File, offset int64) (written int64, err error) {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	for range detachTries {
		if _, err := f.ReadAt(f.dir.edge, offset); err != nil {
			return written, err
		}
		if err := f.hook.ask(Write, f.name, offset, edgeBytes); err != nil {
			return written, err
		}
		n, err := past.WriteAt(f.dir.edge, offset)
		written += int64(n)
		switch {
		case err != nil && refusedDirect(err):
			return written, ErrUnsupported
		case err != nil:
			return written, err
		case f.dir.blind.Load() || !f.MayBeCached(offset, edgeBytes):
			return written, nil
		}
	}
	return written, ErrCached
}
