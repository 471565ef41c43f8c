package statefile

import (
	"errors"
	"os"
	"syscall"
)

// dataSync has the content of f on the disk, and of its attributes only those that are needed to read it.
func dataSync(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for failed = syscall.EINTR; errors.Is(failed, syscall.EINTR); {
			failed = syscall.Fdatasync(int(fd))
		}
	})
	return errors.Join(err, failed)
}
