package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("evict", flag.ContinueOnError)
	f.SetOutput(stderr)
	traces := f.String("traces", "", "the `folder` with the traces")
	stage := f.Float64("stage", 10, "the stage, in `percent` of the cache")
	disk := f.Bool("disk", false, "compare the evictions of a disk behind the memory")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		return exitUsage
	}
	if f.NArg() > 0 || *traces == "" || !(*stage >= 0 && *stage <= 50) {
		fmt.Fprintln(stderr, "evict: want --traces, a --stage from 0 to 50, and no arguments")
		return exitUsage
	}
	all := evictAll
	if *disk {
		all = evictDisk
	}
	if err := all(ctx, *traces, *stage, stdout); err != nil {
		fmt.Fprintf(stderr, "evict: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// evictAll plays everything and prints it.
func evictAll(ctx context.Context, traces string, stage float64, stdout io.Writer) error {
	var tables []table
	for _, share := range shares() {
		tables = append(tables, table{share: share, stage: stage})
	}
	for _, w := range workloads() {
		r, err := w.load(ctx, traces)
		if err != nil {
			return err
		}
		for i := range tables {
			c, err := r.column(ctx, w.name, tables[i].share, stage)
			if err != nil {
				return err
			}
			tables[i].columns = append(tables[i].columns, c)
		}
	}
	for i := range tables {
		fmt.Fprintln(stdout, tables[i].text())
	}
	return nil
}
