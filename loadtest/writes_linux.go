package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// eventHead is the fixed part of an inotify event: wd, mask, cookie, length of the
// name. See inotify(7).
const eventHead = 16

// fileKey is the name of a file in nginx's cache: the MD5 of its key.
type fileKey = [md5.Size]byte

// writeWatch counts the files that nginx stores. nginx renames each complete file
// into its cache's folder, and removes it there. The kernel queues an event for
// each. If the queue overflows, the watch ends with an error.
type writeWatch struct {
	file          *os.File // inotify's descriptor
	folder, marks int32    // watches
	marksPath     string
	sizes         map[fileKey]int64
	limit         int64       // bytes of bodies; writes above it count as over
	mark          int         // number of the last mark
	seen          chan string // names of marks whose events were read
	stopped       chan struct{}

	mu        sync.Mutex
	totals    writeCounts
	held      map[fileKey]struct{}
	heldBytes int64 // bytes held
	err       error // why the watch ended
}

// watchWrites watches folder. Each file in it is one of the objects, and it should not
// hold more than limit bytes. marks is an empty folder for the watch's own use.
func watchWrites(folder, marks string, objects []object, limit int64) (*writeWatch, error) {
	w := &writeWatch{
		marksPath: marks, limit: limit, sizes: make(map[fileKey]int64, len(objects)), held: map[fileKey]struct{}{},
		seen: make(chan string, 1), stopped: make(chan struct{}),
	}
	for i := range objects {
		w.sizes[md5.Sum([]byte(objects[i].target))] = objects[i].bytes
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch nginx's cache: %w", os.NewSyscallError("inotify_init1", err))
	}
	w.file = os.NewFile(uintptr(fd), "inotify")
	folderWatch, err := syscall.InotifyAddWatch(fd, folder, syscall.IN_MOVED_TO|syscall.IN_DELETE|syscall.IN_ONLYDIR)
	var marksWatch int
	if err == nil {
		marksWatch, err = syscall.InotifyAddWatch(fd, marks, syscall.IN_CREATE|syscall.IN_ONLYDIR)
	}
	if err != nil {
		_ = w.file.Close()
		return nil, fmt.Errorf("watch nginx's cache: %w", os.NewSyscallError("inotify_add_watch", err))
	}
	w.folder, w.marks = int32(folderWatch), int32(marksWatch)
	go w.run()
	return w, nil
}

// Close ends the watch and waits for its goroutine.
func (w *writeWatch) Close() error {
	err := w.file.Close()
	<-w.stopped
	return err
}

// counts returns the counts of everything before the call. It creates a mark, which is a
// file, and waits until the mark's event comes out of the kernel's queue. It is not safe
// for concurrent use.
func (w *writeWatch) counts(ctx context.Context) (writeCounts, error) {
	w.mark++
	name := strconv.Itoa(w.mark)
	path := filepath.Join(w.marksPath, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return writeCounts{}, fmt.Errorf("watch nginx's cache: %w", err)
	}
	_ = os.Remove(path) // what stays is removed with the folder
	for {
		select {
		case got := <-w.seen:
			if got != name {
				continue // from an earlier call that gave up
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.totals, nil
		case <-w.stopped:
			w.mu.Lock()
			defer w.mu.Unlock()
			return writeCounts{}, fmt.Errorf("watch nginx's cache: %w", w.err)
		case <-ctx.Done():
			return writeCounts{}, fmt.Errorf("watch nginx's cache: %w", context.Cause(ctx))
		}
	}
}

func (w *writeWatch) run() {
	defer close(w.stopped)
	buf := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(buf)
		if err == nil {
			err = w.events(buf[:n])
		}
		if err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		}
	}
}

var (
	errOverflow = errors.New("the kernel's event queue overflowed")
	errEvent    = errors.New("a kernel event is truncated")
)

func (w *writeWatch) events(b []byte) error {
	for len(b) > 0 {
		if len(b) < eventHead {
			return errEvent
		}
		watch, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
		end := eventHead + int(binary.NativeEndian.Uint32(b[12:]))
		if end > len(b) {
			return errEvent
		}
		name := string(bytes.TrimRight(b[eventHead:end], "\x00"))
		b = b[end:]
		if mask&syscall.IN_Q_OVERFLOW != 0 {
			return errOverflow
		}
		if watch == w.marks {
			w.markReached(name)
			continue
		}
		if err := w.event(name, mask&syscall.IN_MOVED_TO != 0); err != nil {
			return err
		}
	}
	return nil
}

// markReached passes a mark to counts. It drops an older one that no call has taken.
func (w *writeWatch) markReached(name string) {
	select {
	case <-w.seen:
	default:
	}
	w.seen <- name // never blocks: the buffer is empty, and nobody else sends
}

// event counts a file that was added or removed. An incomplete file has a longer name
// and is only ever removed, when its response was cut off. It is not counted.
func (w *writeWatch) event(name string, came bool) error {
	var key fileKey
	if len(name) != hex.EncodedLen(len(key)) {
		return nil
	}
	if _, err := hex.Decode(key[:], []byte(name)); err != nil {
		return fmt.Errorf("file %s: %w", name, err)
	}
	size, ok := w.sizes[key]
	if !ok {
		return fmt.Errorf("file %s belongs to no object of the trace", name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, had := w.held[key]
	switch {
	case came:
		w.totals.writes++
		w.totals.bytes += size
		if !had { // else it replaced a file of the same object
			w.held[key] = struct{}{}
			w.heldBytes += size
		}
		w.totals.most = max(w.totals.most, w.heldBytes)
		if w.heldBytes > w.limit {
			w.totals.over++
		}
	case had:
		w.totals.evictions++
		delete(w.held, key)
		w.heldBytes -= size
	}
	return nil
}
