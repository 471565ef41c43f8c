package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"edgeproxy/internal/lab/command"
)

func main() { command.Main(run) }

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("evict", args, stderr, func(f *flag.FlagSet) func() error {
		traces := f.String("traces", "", "the `folder` with the traces")
		stage := f.Float64("stage", 10, "the stage, in `percent` of the cache")
		disk := f.Bool("disk", false, "compare the evictions of a disk behind the memory")
		return func() error {
			if *traces == "" || !(*stage >= 0 && *stage <= 50) {
				return command.Usagef("--traces must be given, and --stage be from 0 to 50")
			}
			if *disk {
				return evictDisk(ctx, *traces, *stage, stdout)
			}
			return evictAll(ctx, *traces, *stage, stdout)
		}
	})
}

// evictAll plays everything and prints it.
func evictAll(ctx context.Context, traces string, stage float64, stdout io.Writer) error {
	var tables []table
	for _, share := range shares() {
		tables = append(tables, table{share: share, stage: stage})
	}
	for _, w := range workloads() {
		r, err := load(ctx, w, traces)
		if err != nil {
			return err
		}
		for i := range tables {
			c, err := r.column(ctx, w.Name, tables[i].share, stage)
			if err != nil {
				return err
			}
			tables[i].columns = append(tables[i].columns, c)
		}
	}
	for i := range tables {
		f := tables[i].figures()
		if err := f.Write(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	return nil
}
