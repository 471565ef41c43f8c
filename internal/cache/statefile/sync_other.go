//go:build !linux

package statefile

import "os"

// dataSync has the content of f on the disk.
func dataSync(f *os.File) error { return f.Sync() }
