package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"edgeproxy/internal/lab/command"
)

// options are what the command line says.
type options struct {
	dir     string        // where the files go
	traces  []string      // to replay
	limit   int64         // requests of each
	share   float64       // the store's part of the bytes of all objects
	bytes   int64         // or all of it; 0: share
	passes  int           // how often a trace is replayed, at least
	times   float64       // and until this many times the store's size is written
	restart bool          // close the store between two passes
	reading time.Duration // how long each half of reads takes
	rate    int64         // what the writer beside the reads writes, in bytes a second
	records uint64        // to read from
	objects int           // how many fill makes
	only    string
}

func main() { command.Main(run) }

// run is the program: arguments in, exit code out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("diskbench", args, stderr, func(f *flag.FlagSet) func() error {
		var o options
		f.StringVar(&o.dir, "dir", "", "make the files in this `directory` (a temporary one)")
		traces := f.String("traces", "zipf:objects=40000,requests=400000,exponent=0.9", "replay these `traces`, separated by blanks, as edgeproxy simulate reads them")
		f.Int64Var(&o.limit, "limit", 0, "replay at most this `number` of requests; 0 = all")
		f.Float64Var(&o.share, "share", 0.05, "give the store this `share` of the bytes of all objects")
		f.Int64Var(&o.bytes, "bytes", 0, "give the store this `number` of bytes, whatever the objects have")
		f.Float64Var(&o.times, "times", 0, "replay each trace until this `multiple` of the store's size is stored")
		f.IntVar(&o.passes, "passes", 1, "replay each trace this `number` of times")
		f.BoolVar(&o.restart, "restart", false, "close and open the store between two passes")
		f.DurationVar(&o.reading, "reading", 15*time.Second, "read for this `time`, with and without a writer")
		f.Int64Var(&o.rate, "rate", 100e6, "write this `number` of bytes a second beside the reads")
		f.Uint64Var(&o.records, "records", 40_000, "read from this `number` of records of 32 KiB")
		f.IntVar(&o.objects, "objects", 10_000_000, "fill the index with this `number` of objects")
		f.StringVar(&o.only, "only", "", "measure only this `part`: replay, reads or fill")
		return func() error {
			o.traces = strings.Fields(*traces)
			return o.measure(ctx, stdout)
		}
	})
}

// measure runs the parts that were asked for.
func (o *options) measure(ctx context.Context, out io.Writer) error {
	parts := []struct {
		name string
		run  func(ctx context.Context, dir string, out io.Writer) error
	}{{"replay", o.replay}, {"reads", o.reads}, {"fill", o.fill}}
	for _, p := range parts {
		if o.only != "" && o.only != p.name {
			continue
		}
		dir, err := os.MkdirTemp(o.dir, "diskbench-")
		if err != nil {
			return err
		}
		err = p.run(ctx, filepath.Join(dir, "store"), out)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
