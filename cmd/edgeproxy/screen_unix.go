//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dimensionsOf returns the dimensions of a terminal.
func dimensionsOf(f *os.File) dimensions {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ) //nolint:gosec // a descriptor is small
	if err != nil {
		return dimensions{}
	}
	return dimensions{rows: int(w.Row), columns: int(w.Col)}
}
