//go:build unix

package lines

import (
	"errors"
	"os"
	"syscall"
)

// openFile opens a file, or a named pipe without waiting for a reader. It opens a pipe without a reader for
// reading too, so that the pipe holds as many lines as fit (fifo(7)); reads says so. With read it always does:
// the only present reader may be this process, through a file that is about to be closed.
func openFile(path string, read bool) (f *os.File, reads bool, err error) {
	const flags = os.O_APPEND | os.O_CREATE | syscall.O_NONBLOCK
	if !read {
		f, err = os.OpenFile(path, flags|os.O_WRONLY, fileMode)
		if !errors.Is(err, syscall.ENXIO) {
			return f, false, err
		}
	}
	f, err = os.OpenFile(path, flags|os.O_RDWR, fileMode)
	return f, err == nil, err
}
