//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns the size of a terminal.
func terminalSize(f *os.File) windowSize {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ) //nolint:gosec // a descriptor is small
	if err != nil {
		return windowSize{}
	}
	return windowSize{rows: int(w.Row), columns: int(w.Col)}
}
