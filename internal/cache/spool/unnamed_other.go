//go:build !linux

package spool

import "os"

// unnamed makes a file in folder that has no name any more.
func unnamed(folder string) (*os.File, error) { return removed(folder) }
