package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

const (
	maxLineBytes   = 64 << 10
	maxObjectBytes = 1 << 40
)

// lineReader adds the request of one line to the trace. false: the line cannot
// be understood.
type lineReader func(b *builder, line []byte) bool

// readTrace reads a file of requests. format "" means to find out; limit is the
// number of lines to use, 0 = all.
func readTrace(path, format string, limit int) (*trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing to lose
	return readLines(filepath.Base(path), file, format, limit)
}

func readLines(name string, r io.Reader, format string, limit int) (*trace, error) {
	br := bufio.NewReaderSize(r, maxLineBytes)
	if format == "" {
		sample, _ := br.Peek(maxLineBytes) // shorter at the end of the file; a real error comes again below
		var err error
		if format, err = detect(sample); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	read, err := newLineReader(format, br)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := newBuilder(name)
	if err := eachLine(br, limit, func(line []byte) {
		if !read(b, line) {
			b.trace.badLines++
		}
	}); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b.finish()
}

// eachLine calls f for each line without its end, empty ones left out. A line
// longer than the reader's buffer is given as nil, which no format takes. The
// bytes are valid during the call only.
func eachLine(br *bufio.Reader, limit int, f func(line []byte)) error {
	if limit == 0 {
		limit = math.MaxInt
	}
	for range limit {
		line, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			f(nil)
			err = skipLine(br)
			line = nil
		}
		if line = trimEnd(line); len(line) > 0 {
			f(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func skipLine(br *bufio.Reader) error {
	for {
		_, err := br.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// parseBytes reads a byte count of a log; "-" means none.
func parseBytes(s []byte) (int64, bool) {
	if string(s) == "-" {
		return 0, true
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	return n, err == nil && n >= 0 && n <= maxObjectBytes
}
