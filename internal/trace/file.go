package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	maxLineBytes = 64 << 10
	checkEvery   = 1 << 12 // lines between two looks at the context
	// maxWindowBytes is the largest window that the zstd program accepts by default. A
	// file that needs more memory is refused.
	maxWindowBytes = 128 << 20
)

var errCompression = errors.New("compressed with xz or bzip2: unpack it first, or pipe it in")

// file is a log on disk, or standard input.
type file struct {
	path   string
	format string    // "" = find out
	bytes  int64     // -1 = unknown
	input  io.Reader // nil = open path
}

func (f *file) total() int64 { return f.bytes }

func (f *file) feed(ctx context.Context, b *builder, m *meter) error {
	in := f.input
	if in == nil {
		opened, err := os.Open(f.path)
		if err != nil {
			return fmt.Errorf("open the trace: %w", pathError(f.path, err))
		}
		defer func() { _ = opened.Close() }() // read only: nothing to lose
		in = opened
	}
	if err := f.read(ctx, in, b, m); err != nil {
		return fmt.Errorf("read %s: %w", Name(f.path), err)
	}
	return nil
}

func (f *file) read(ctx context.Context, in io.Reader, b *builder, m *meter) error {
	u, err := unpack(bufio.NewReaderSize(&meteredReader{in: in, meter: m}, maxLineBytes))
	if err != nil {
		return err
	}
	defer u.close()
	lines := u.lines
	if mark, _ := lines.Peek(3); string(mark) == "\xef\xbb\xbf" { // a byte order mark, as spreadsheets write it
		_, _ = lines.Discard(3) // they are there
	}
	parse, err := f.parser(lines)
	if err != nil {
		return err
	}
	err = eachLine(ctx, lines, m, func(line []byte) error {
		return b.use(parse, line)
	})
	if err != nil {
		return err
	}
	if u.trailing() {
		b.trace.notes.Trailing = append(b.trace.notes.Trailing, Name(f.path))
	}
	return b.times.close()
}

// parser returns the parser of the lines, nil for an empty file.
func (f *file) parser(lines *bufio.Reader) (parser, error) {
	name := f.format
	if name == "" {
		sample, err := lines.Peek(maxLineBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(sample) == 0 {
			return nil, nil
		}
		if name, err = detect(sample); err != nil {
			return nil, err
		}
	}
	form, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	return form.open(lines)
}

// use records a line, or counts why not. A nil line is one that was too long.
func (b *builder) use(parse parser, line []byte) error {
	b.line = request{}
	v := bad
	if line != nil {
		v = parse(line, &b.line)
	}
	if b.line.head && !b.heads && v == used {
		v = skipped
	}
	switch v {
	case used:
		return b.add(&b.line)
	case skipped:
		b.trace.facts.Skipped++
	case bad:
		b.trace.facts.BadLines++
	case metadata:
	}
	return nil
}

// eachLine calls f for each line that is not empty, without its end, until the meter's
// limit is reached. For a line longer than the reader's buffer the argument is nil. The
// bytes are only valid during the call.
func eachLine(ctx context.Context, from *bufio.Reader, m *meter, f func(line []byte) error) error {
	for n := 0; m.left > 0; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.left--
		line, end := from.ReadSlice('\n')
		long := errors.Is(end, bufio.ErrBufferFull)
		if long {
			end = skipLine(from)
		}
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		if line = trimEnd(line); long {
			line = nil
		}
		if long || len(line) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
		if end != nil {
			return nil
		}
	}
	return nil
}

func skipLine(from *bufio.Reader) error {
	for {
		_, err := from.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// unpacked is the text of a file.
type unpacked struct {
	lines *bufio.Reader
	gzip  *gzipMembers  // nil: it was none
	zstd  *zstd.Decoder // nil: it was none
}

// unpack detects the compression of the file, if any. The caller must close the result.
func unpack(packed *bufio.Reader) (*unpacked, error) {
	magic, err := packed.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	begins := func(s string) bool { return bytes.HasPrefix(magic, []byte(s)) }
	u := &unpacked{lines: packed}
	switch {
	case begins(gzipMagic):
		if u.gzip, err = newGzipMembers(packed); err != nil {
			return nil, err
		}
		u.lines = bufio.NewReaderSize(u.gzip, maxLineBytes)
	case begins("\x28\xb5\x2f\xfd"):
		u.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			return nil, err
		}
		u.lines = bufio.NewReaderSize(u.zstd, maxLineBytes)
	case begins("\xfd7zXZ\x00"), begins("BZh"):
		return nil, errCompression
	}
	return u, nil
}

// trailing reports, at the end, whether other bytes follow the compressed data.
func (u *unpacked) trailing() bool { return u.gzip != nil && u.gzip.trailing }

func (u *unpacked) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// meteredReader tells the meter what is read of a file.
type meteredReader struct {
	in    io.Reader
	meter *meter
}

// Read implements io.Reader.
func (c *meteredReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.meter.step(int64(n))
	return n, err
}
