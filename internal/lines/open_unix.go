//go:build unix

package lines

import (
	"errors"
	"os"
	"syscall"
)

// openFile opens a file, or a named pipe without waiting for its reader. A pipe without one is
// opened for reading as well, so that lines wait in it (fifo(7)), as many as fit; reads says so. With read
// it is in any case: the reader that there is may be we ourselves, by a file that is about to be closed.
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
