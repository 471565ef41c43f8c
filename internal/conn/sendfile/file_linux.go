package sendfile

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// supported says that the system has files that lie in memory.
const supported = true

// newFile returns a file in memory that holds b and can never be written to again.
func newFile(b []byte) (descriptor int, err error) {
	fd, err := unix.MemfdCreate("edgeproxy-body", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return 0, fmt.Errorf("make a file in memory: %w", err)
	}
	if err := fill(fd, b); err != nil {
		closeFile(fd)
		return 0, fmt.Errorf("fill a file in memory: %w", err)
	}
	return fd, nil
}

func fill(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		}
		b = b[n:]
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	return err
}

// descriptors returns how many descriptors the process may have.
func descriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30)) //nolint:gosec // it fits
}

// never says that the system, or what it lets this process do, has no files in memory.
func never(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EINVAL)
}

func closeFile(fd int) { _ = unix.Close(fd) }
