//go:build walk

package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/coverage"
	"syscall"
)

// scripts/walk.sh builds the program with this file. It then records which functions run between two
// signals: SIGUSR2 clears the coverage counters, SIGWINCH writes them into the folder EDGEPROXY_WALK.
// A line on standard error says that either is done.
var _ = countWalks()

func countWalks() <-chan os.Signal {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR2, syscall.SIGWINCH)
	go func() {
		for sig := range told {
			if err := walked(sig); err != nil {
				fmt.Fprintln(os.Stderr, "walk:", err)
				continue
			}
			fmt.Fprintln(os.Stderr, "walk: done")
		}
	}()
	return told
}

func walked(sig os.Signal) error {
	if sig == syscall.SIGUSR2 {
		return coverage.ClearCounters()
	}
	folder := os.Getenv("EDGEPROXY_WALK")
	if err := coverage.WriteMetaDir(folder); err != nil {
		return err
	}
	return coverage.WriteCountersDir(folder)
}
