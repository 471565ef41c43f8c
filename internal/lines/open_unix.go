//go:build unix

package lines

import (
	"errors"
	"os"
	"syscall"
)

// openFile opens a file, or a named pipe without waiting for its reader. A pipe without one is
// opened for reading as well, so that lines wait in it (fifo(7)), as many as fit.
func openFile(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags|os.O_WRONLY, fileMode)
	if errors.Is(err, syscall.ENXIO) {
		return os.OpenFile(path, flags|os.O_RDWR, fileMode)
	}
	return f, err
}
