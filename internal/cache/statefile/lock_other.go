//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package statefile

import "os"

// lock does nothing: this system has no flock.
func lock(*os.File) bool { return true }
