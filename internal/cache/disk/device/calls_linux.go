package device

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/conn/nonblock"
)

// on calls do with the descriptor of f, which stays open meanwhile.
func on(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) {
		for {
			if inner = do(int(fd)); !errors.Is(inner, unix.EINTR) { //nolint:gosec // a descriptor
				return
			}
		}
	}); err != nil {
		return err
	}
	return inner
}

func setDirect(f *os.File, direct bool) error {
	return on(f, func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0) //nolint:gosec // a descriptor
		if err != nil {
			return err
		}
		flags &^= unix.O_DIRECT
		if direct {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags) //nolint:gosec // a descriptor
		return err
	})
}

// pastTheCache opens the file of a descriptor for writes past the page cache.
func pastTheCache(fd int) (*os.File, error) {
	w, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_WRONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, fs.ErrNotExist) { // no such writes, or no /proc
		return nil, ErrUnsupported
	}
	return w, err //nolint:wrapcheck // os says which file
}

// hold returns a pipe that has the page cache's own pages of the first bytes of a file, as a socket has them after sendfile.
func hold(fd int, bytes int) (*os.File, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	var offset int64
	n, err := unix.Splice(fd, &offset, ends[1], nil, bytes, 0)
	_ = unix.Close(ends[1])                     // so that a read of more ends
	r := os.NewFile(uintptr(ends[0]), "pipe")   //nolint:gosec // a descriptor
	if err != nil || int64(n) != int64(bytes) { //nolint:unconvert // an int on systems of 32 bits
		_ = r.Close()
		return nil, errors.Join(ErrUnsupported, err)
	}
	return r, nil
}

func refusedDirect(err error) bool { return errors.Is(err, unix.EINVAL) }

func room(f *os.File) (r Room, err error) {
	err = on(f, func(fd int) error {
		var s unix.Statfs_t
		if err := unix.Fstatfs(fd, &s); err != nil {
			return err
		}
		r = Room{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)} //nolint:gosec,unconvert // sizes of a disk; Bsize is an int32 elsewhere
		return nil
	})
	return r, err
}

// mostUntold is the longest read from the page cache that the scheduler is not told of (0077). It is a copy of some microseconds.
const mostUntold = 64 << 10

func readNow(fd int, p []byte, offset int64) bool {
	if len(p) > 0 && len(p) <= mostUntold {
		n, err := nonblock.ReadCached(fd, p, offset)
		return err == nil && n == len(p)
	}
	for {
		n, err := unix.Preadv2(fd, [][]byte{p}, offset, unix.RWF_NOWAIT)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == len(p)
		}
	}
}

// cached asks by cachestat, which Linux has since 6.5.
func cached(fd int, offset, bytes int64) (pages int64, ok bool) {
	var s unix.Cachestat_t
	err := unix.Cachestat(uint(fd), &unix.CachestatRange{Off: uint64(offset), Len: uint64(bytes)}, &s, 0) //nolint:gosec // not negative
	return int64(s.Cache), err == nil                                                                     //nolint:gosec // a file has fewer pages
}

func stamp(fd int) (time.Time, bool) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return time.Time{}, false
	}
	return time.Unix(s.Ctim.Unix()), true
}

func blockBytes(fd int) int64 {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return 0
	}
	return int64(s.Blksize) //nolint:unconvert // an int32 elsewhere
}

func push(f *os.File, offset, bytes int64) {
	_ = on(f, func(fd int) error { return unix.SyncFileRange(fd, offset, bytes, unix.SYNC_FILE_RANGE_WRITE) })
}

func settle(f *os.File, offset, bytes int64) {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	_ = on(f, func(fd int) error {
		if err := unix.SyncFileRange(fd, offset, bytes, all); err != nil {
			return err
		}
		return unix.Fadvise(fd, offset, bytes, unix.FADV_DONTNEED)
	})
}

func forget(f *os.File) {
	_ = on(f, func(fd int) error { return unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED) })
}

func dataSync(f *os.File) error { return on(f, unix.Fdatasync) }

func punch(f *os.File, offset, bytes int64) error {
	return on(f, func(fd int) error {
		err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, bytes)
		if errors.Is(err, unix.ENOSYS) {
			return ErrUnsupported
		}
		return err // EOPNOTSUPP is ErrUnsupported
	})
}

func seek(f *os.File, offset, size int64, hole bool) (at int64, err error) {
	whence := unix.SEEK_DATA
	if hole {
		whence = unix.SEEK_HOLE
	}
	err = on(f, func(fd int) error {
		var err error
		at, err = unix.Seek(fd, offset, whence)
		return err
	})
	switch {
	case errors.Is(err, unix.ENXIO): // no data behind offset
		return size, nil
	case errors.Is(err, unix.EINVAL) && hole: // no notion of holes: there are none
		return size, nil
	case errors.Is(err, unix.EINVAL):
		return offset, nil
	}
	return min(at, size), err
}

func onDisk(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
