package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamed makes a file in folder that never has a name, where the file system can.
func unnamed(folder string) (*os.File, error) {
	f, err := os.OpenFile(folder, unix.O_TMPFILE|unix.O_EXCL|os.O_RDWR, 0o600)
	if err != nil { // it cannot, or what is wrong is wrong with any file there
		return removed(folder)
	}
	return f, nil
}
