//go:build unix

package disk

import (
	"errors"
	"fmt"
	"syscall"
)

func readOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }

// noSpace makes err an errNoSpace if the file system is full.
func noSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", errNoSpace, err)
	}
	return err
}
