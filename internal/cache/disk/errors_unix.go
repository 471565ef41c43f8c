//go:build unix

package disk

import (
	"errors"
	"syscall"
)

func readOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }

// noSpace makes err an errNoSpace if the file system is full.
func noSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errors.Join(errNoSpace, err)
	}
	return err
}
