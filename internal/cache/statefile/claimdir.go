package statefile

import (
	"errors"
	"fmt"
	"os"
)

// ErrInUse says that another process, or another part of this one, has claimed the directory.
var ErrInUse = errors.New("in use by another process")

// ClaimDir locks a directory for one user, until release is called or the process ends. On
// systems without file locks (lock_other.go) it locks nothing. The error is ErrInUse or one of
// the file system.
func ClaimDir(dir string) (release func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if !lock(d) {
		_ = d.Close()
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	return func() { _ = d.Close() }, nil
}
