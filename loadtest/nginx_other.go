//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
)

// memoryFolder returns none: what is a folder in memory differs between systems.
func memoryFolder(int64) string { return "" }

// writeWatch needs a kernel that tells of every file. There is none here.
type writeWatch struct{}

func watchWrites(string, string, []object, int64) (*writeWatch, error) {
	return nil, fmt.Errorf("watch nginx's cache: %w: that takes Linux", errors.ErrUnsupported)
}

// Close does nothing.
func (*writeWatch) Close() error { return nil }

func (*writeWatch) counts(context.Context) (writeCounts, error) { return writeCounts{}, nil }
