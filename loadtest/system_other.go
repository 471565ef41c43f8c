//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// memoryFolder returns none: folders in memory differ between systems.
func memoryFolder(int64) string { return "" }

// pause waits for d or for the end of ctx, whichever is first.
func pause(ctx context.Context, d time.Duration) { pauseTimer(ctx, d) }

// writeWatch needs inotify, which only Linux has.
type writeWatch struct{}

func watchWrites(string, string, []object, int64) (*writeWatch, error) {
	return nil, fmt.Errorf("watch nginx's cache: %w: this needs Linux", errors.ErrUnsupported)
}

// Close does nothing.
func (*writeWatch) Close() error { return nil }

func (*writeWatch) counts(context.Context) (writeCounts, error) { return writeCounts{}, nil }
