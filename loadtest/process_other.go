//go:build !linux

package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

func processAttributes(syscall.Signal) *syscall.SysProcAttr { return nil }

func kill(p *os.Process) error { return p.Kill() }

func writtenBy(*os.ProcessState) (int64, bool) { return 0, false }

// pause waits for d or for the end of ctx, whichever is first.
func pause(ctx context.Context, d time.Duration) { pauseTimer(ctx, d) }
