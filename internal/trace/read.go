package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var errFolder = errors.New("this is a folder, want a file")

// Options says how to read. The zero value finds everything out.
type Options struct {
	// Format forces one of Formats; "" finds it out for each file by its content.
	Format string
	// Limit is the most lines of files and requests of made-up workloads to take,
	// together; 0 = all.
	Limit int64
	// Heads takes HEADs too, which are skipped else.
	Heads bool
	// Keys keeps what the objects are asked by, for Trace.Key. It costs their length
	// and 32 bytes for each object.
	Keys bool
	// Seed is that of made-up workloads whose text names none; 0 = 1.
	Seed uint64
	// Input is what "-" reads; nil = standard input.
	Input io.Reader
	// Progress, if not nil, is told now and then how much of the whole is read:
	// bytes of the files as they lie on disk, or requests to make up. total is 0
	// where that is unknown, as with standard input. It is called by Read's own
	// goroutine and at the end with read = total.
	Progress func(read, total int64)
}

// source is a file or a made-up workload.
type source interface {
	// weight is how much there is to read, in what Progress counts; -1 = unknown.
	weight() int64
	// feed adds the requests.
	feed(ctx context.Context, b *builder, m *meter) error
}

// Read returns the requests of the paths, one after the other. A path is a file,
// plain, gzip or zstd; "-" for standard input; or a made-up workload:
//
//	zipf:KEY=V,...             Zipf's law and URLs that nobody asks for again
//	popularity:FILE,KEY=V,...  counts and sizes drawn from a distribution
//
// The caller must Close the trace. An error leaves nothing behind; a trace
// without any request is one, and a path that names nothing to read a
// *SourceError. When ctx ends Read returns the cause, but for a
// read of standard input that blocks: it goes on until that ends.
func Read(ctx context.Context, paths []string, o Options) (*Trace, error) {
	sources, err := o.sources(paths)
	if err != nil {
		return nil, err
	}
	b := newBuilder(o.Keys)
	b.heads = o.Heads
	return collect(ctx, sources, b, newMeter(sources, o))
}

func collect(ctx context.Context, sources []source, b *builder, m *meter) (*Trace, error) {
	for _, s := range sources {
		if m.left == 0 {
			break
		}
		if err := b.take(ctx, s, m); err != nil {
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

// sources looks at all paths before the first is read: a fault in the last is
// known at once.
func (o *Options) sources(paths []string) ([]source, error) {
	if len(paths) == 0 {
		return nil, errors.New("no log given")
	}
	if o.Format != "" {
		if _, err := formatOf(o.Format); err != nil {
			return nil, err
		}
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

func (o *Options) source(path string) (source, error) {
	seed := o.Seed
	if seed == 0 {
		seed = 1
	}
	if spec, ok := cutScheme(path, schemeZipf); ok {
		return newWorkload(spec, seed)
	}
	if spec, ok := cutScheme(path, schemePopularity); ok {
		return newPopularity(spec, seed)
	}
	f := &file{path: path, format: o.Format, bytes: -1}
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
