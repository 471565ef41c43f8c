package testkit

import (
	"errors"
	"strings"
)

// ErrDiskFull is the error of a Disk without room.
var ErrDiskFull = errors.New("no space left")

// Disk is a writer with limited room: what does not fit is cut.
type Disk struct {
	Room     int
	Silent   bool  // say nothing about a short write
	CloseErr error // what Close returns

	written strings.Builder
}

// Write implements io.Writer, but for what Silent says.
func (d *Disk) Write(p []byte) (int, error) {
	n := min(len(p), d.Room)
	d.Room -= n
	d.written.Write(p[:n])
	if n < len(p) && !d.Silent {
		return n, ErrDiskFull
	}
	return n, nil
}

// Close implements io.Closer.
func (d *Disk) Close() error { return d.CloseErr }

// String returns what was written.
func (d *Disk) String() string { return d.written.String() }
