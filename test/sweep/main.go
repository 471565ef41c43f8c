package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"edgeproxy/internal/lab/command"
)

// The tables, below testdata.
const (
	multiplesFile = "multiples.tsv"
	floorsFile    = "floors.tsv"
)

func main() { command.Main(run) }

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("sweep", args, stderr, func(f *flag.FlagSet) func() error {
		traces := f.String("traces", "", "the `folder` with the traces")
		out := f.String("out", "", "write the tables into this `folder`, too")
		stagesOnly := f.Bool("stages", false, "try stages of many sizes, in place of windows")
		return func() error {
			if *traces == "" {
				return command.Usagef("--traces must be given")
			}
			if !*stagesOnly {
				return sweepAll(ctx, *traces, *out, stdout)
			}
			rows, err := sweepStages(ctx, *traces)
			if err != nil {
				return err
			}
			return reportStages(stdout, rows)
		}
	})
}

// sweepAll plays everything and prints what the rule makes of it.
func sweepAll(ctx context.Context, traces, out string, stdout io.Writer) error {
	var wide, small []row
	for _, w := range workloads() {
		r, err := load(ctx, w, traces)
		if err != nil {
			return err
		}
		rows, err := r.sweep(ctx, w, false)
		if err != nil {
			return err
		}
		wide = append(wide, rows...)
		if w.Model() {
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
