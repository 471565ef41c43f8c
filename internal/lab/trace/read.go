package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var errFolder = errors.New("this is a folder, must be a file")

// Options says how to read. With the zero value everything is detected.
type Options struct {
	// Format is one of Formats; "" detects it for each file by its content.
	Format string
	// Fields names the fields of logs in JSON, TSV or CSV, which Format may tell apart.
	Fields Fields
	// IgnoreTimes reads no times: the lines are in the order that counts.
	IgnoreTimes bool
	// Limit is the largest number of lines of files and generated requests, together;
	// 0 = all.
	Limit int64
	// Heads uses HEADs too. Otherwise they are skipped.
	Heads bool
	// Keys keeps the keys of the objects, for Trace.Key. That takes their length and
	// 32 bytes for each object.
	Keys bool
	// Seed is the seed of generated workloads that name none; 0 = 1.
	Seed uint64
	// Input is what "-" reads; nil = standard input.
	Input io.Reader
	// Progress, if not nil, is called now and then with how much is read: bytes of the
	// files on disk, or generated requests. total is 0 if it is unknown, as with standard
	// input. The goroutine of Read calls it, at the end with read = total.
	Progress func(read, total int64)
}

// source is a file or a generated workload.
type source interface {
	// total is how much there is to read, in the units of Progress; -1 = unknown.
	total() int64
	// feed adds the requests.
	feed(ctx context.Context, b *builder, m *meter) error
}

// Read returns the requests of the paths, one after the other. A path is a file,
// plain, gzip or zstd; "-" for standard input; or a generated workload:
//
//	zipf:KEY=V,...             Zipf's law, and URLs that are requested once
//	popularity:FILE,KEY=V,...  counts and sizes drawn from a distribution
//
// The caller must Close the trace. After an error no file is left. A trace without any
// request is an error. A path that names nothing to read is a *SourceError. When ctx ends,
// Read returns the cause; but it first waits for a blocked read of standard input.
func Read(ctx context.Context, paths []string, o Options) (*Trace, error) {
	sources, err := o.sources(paths)
	if err != nil {
		return nil, err
	}
	b := newBuilder(o.Keys)
	b.heads, b.ignoreTimes = o.Heads, o.IgnoreTimes
	return collect(ctx, sources, b, newMeter(sources, o))
}

func collect(ctx context.Context, sources []source, b *builder, m *meter) (*Trace, error) {
	for _, s := range sources {
		if m.left == 0 {
			break
		}
		if err := b.readSource(ctx, s, m); err != nil {
			return nil, errors.Join(err, b.trace.Close())
		}
	}
	m.done()
	t, err := b.finish()
	if err != nil {
		return nil, errors.Join(err, b.trace.Close())
	}
	return t, nil
}

// sources checks all paths before the first is read, so that an error in the last one is
// found at once.
func (o *Options) sources(paths []string) ([]source, error) {
	if len(paths) == 0 {
		return nil, errors.New("no log given")
	}
	if err := o.checkFormat(); err != nil {
		return nil, err
	}
	out := make([]source, 0, len(paths))
	for _, path := range paths {
		s, err := o.source(path)
		if err != nil {
			return nil, &SourceError{err}
		}
		out = append(out, s)
	}
	return out, nil
}

// checkFormat refuses a format that there is not, or that names its fields itself.
func (o *Options) checkFormat() error {
	if o.Format != "" {
		if _, err := formatOf(o.Format); err != nil {
			return err
		}
	}
	return o.Fields.Check(o.Format)
}

func (o *Options) source(path string) (source, error) {
	seed := o.Seed
	if seed == 0 {
		seed = 1
	}
	if spec, ok := cutScheme(path, schemeZipf); ok {
		return newZipfWorkload(spec, seed)
	}
	if spec, ok := cutScheme(path, schemePopularity); ok {
		return newPopularity(spec, seed)
	}
	f := &file{path: path, format: o.Format, fields: o.Fields, bytes: -1}
	if path == "-" {
		f.input = o.Input
		if f.input == nil {
			f.input = os.Stdin
		}
		return f, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", pathError(path, err))
	}
	if info.IsDir() {
		return nil, fmt.Errorf("open the trace: %w", &fs.PathError{Op: "open", Path: printable(path), Err: errFolder})
	}
	if info.Mode().IsRegular() {
		f.bytes = info.Size()
	}
	return f, nil
}
