package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// The tables, below testdata.
const (
	multiplesFile = "multiples.tsv"
	floorsFile    = "floors.tsv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("sweep", flag.ContinueOnError)
	f.SetOutput(stderr)
	traces := f.String("traces", "", "the `folder` with the traces")
	out := f.String("out", "", "write the tables into this `folder`, too")
	stagesOnly := f.Bool("stages", false, "try stages of many sizes, in place of windows")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		return exitUsage
	}
	if f.NArg() > 0 || *traces == "" {
		fmt.Fprintln(stderr, "sweep: want --traces, and no arguments")
		return exitUsage
	}
	if *stagesOnly {
		rows, err := sweepStages(ctx, *traces)
		if err != nil {
			fmt.Fprintf(stderr, "sweep: %v\n", err)
			return exitFailed
		}
		fmt.Fprint(stdout, reportStages(rows))
		return exitDone
	}
	if err := sweepAll(ctx, *traces, *out, stdout); err != nil {
		fmt.Fprintf(stderr, "sweep: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// sweepAll plays everything and prints what the rule makes of it.
func sweepAll(ctx context.Context, traces, out string, stdout io.Writer) error {
	var wide, small []row
	for _, w := range workloads() {
		r, err := w.load(ctx, traces)
		if err != nil {
			return err
		}
		rows, err := r.sweep(ctx, w, false)
		if err != nil {
			return err
		}
		wide = append(wide, rows...)
		if w.model {
			continue
		}
		if rows, err = r.sweep(ctx, w, true); err != nil {
			return err
		}
		small = append(small, rows...)
	}
	fmt.Fprintf(stdout, "Multiples of C, in caches of 1, 5 and 20 %% of the unique bytes\n\n%s\nFloors, in caches of 0.25, 0.5 and 1 %%\n\n%s",
		report(wide, chooseMultiple), report(small, chooseFloor))
	if out == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(out, multiplesFile), []byte(text(wide)), 0o600); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, floorsFile), []byte(text(small)), 0o600); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
