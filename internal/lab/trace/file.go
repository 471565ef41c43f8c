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
	fields Fields    // given = their names
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
	parse, guessed, err := f.parser(lines)
	if err != nil {
		return err
	}
	before := b.trace.facts
	err = eachLine(ctx, u, m, func(line []byte) error {
		return b.use(parse, line)
	})
	if err != nil {
		return err
	}
	if err := f.checkRead(b, before, u, guessed); err != nil {
		return err
	}
	return b.times.close()
}

// checkRead notes what was left out of a file that has been read, and refuses it if that is most of it. guessed is the format
// that it was taken for, "" if it was given.
func (f *file) checkRead(b *builder, before Facts, u *unpacked, guessed string) error {
	after, notes := &b.trace.facts, &b.trace.notes
	fit := after.Requests + after.Skipped - before.Requests - before.Skipped
	lines := fit + after.BadLines - before.BadLines
	if guessed != "" && !fitsEnough(int(fit), int(lines)) {
		return fmt.Errorf("the first lines look like the format %s, but of %d lines only %d do: --format %s uses those", guessed, lines, fit, guessed)
	}
	if u.trailing() {
		notes.Trailing = append(notes.Trailing, Name(f.path))
	}
	switch {
	case !u.cut():
	case lines == 0:
		return io.ErrUnexpectedEOF
	default:
		notes.Cut = append(notes.Cut, Name(f.path))
	}
	return nil
}

// parser returns the parser of the lines, nil for an empty file, and the format if it is a guess.
func (f *file) parser(lines *bufio.Reader) (parse parser, guessed string, err error) {
	sample, err := lines.Peek(maxLineBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	if len(sample) == 0 {
		return nil, "", nil
	}
	var g guess
	switch {
	case f.fields.given():
		g, err = f.fields.guess(f.format, sample)
	case f.format != "":
		if g.form, err = formatOf(f.format); err == nil {
			g.unwrap = vote(sampled(sample), []format{g.form}).unwrap
		}
	default:
		if g, err = detect(sample); err == nil {
			guessed = g.form.name
		}
	}
	if err != nil {
		return nil, "", err
	}
	if parse, err = g.form.open(lines); err == nil && g.unwrap != nil {
		parse = unwrapped(parse, g.unwrap)
	}
	return parse, guessed, err
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
	if b.ignoreTimes {
		b.line.timed = false
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
// bytes are only valid during the call. A line that the end of a file cuts is left out.
func eachLine(ctx context.Context, u *unpacked, m *meter, f func(line []byte) error) error {
	for n := 0; m.left > 0; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.left--
		line, last, err := readLine(u.lines)
		if err != nil || last && u.cut() {
			return err
		}
		if line == nil || len(line) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
	return nil
}

// readLine returns the next line without its end, nil if it is longer than the buffer. last says that nothing follows it.
func readLine(from *bufio.Reader) (line []byte, last bool, err error) {
	line, err = from.ReadSlice('\n')
	line = trimEnd(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = nil, skipLine(from)
	}
	if errors.Is(err, io.EOF) {
		return line, true, nil
	}
	return line, false, err
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
	whole *wholeReader  // nil: it was not packed
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
		u.whole = &wholeReader{packed: u.gzip}
	case begins("\x28\xb5\x2f\xfd"):
		u.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			return nil, err
		}
		u.whole = &wholeReader{packed: u.zstd}
	case begins("\xfd7zXZ\x00"), begins("BZh"):
		return nil, errCompression
	}
	if u.whole != nil {
		u.lines = bufio.NewReaderSize(u.whole, maxLineBytes)
	}
	return u, nil
}

// trailing reports, at the end, whether other bytes follow the compressed data.
func (u *unpacked) trailing() bool { return u.gzip != nil && u.gzip.trailing }

// cut reports, at the end, whether the compressed data ends too early.
func (u *unpacked) cut() bool { return u.whole != nil && u.whole.cut }

func (u *unpacked) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// wholeReader reads compressed data that may end too early, as that of a copy that was interrupted or of a log that is still being
// written. That is its end then.
type wholeReader struct {
	packed io.Reader
	cut    bool
}

// Read implements io.Reader.
func (w *wholeReader) Read(p []byte) (int, error) {
	n, err := w.packed.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		w.cut, err = true, io.EOF
	}
	return n, err
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
