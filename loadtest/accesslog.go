package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// accessLog sums up the access log of another proxy while it is written: the result of
// each request, its status, its body bytes, and those of its fetches from the origin.
// It is not safe for concurrent use.
type accessLog struct {
	file *os.File
	in   *bufio.Reader
	rest string // an incomplete last line
	sum  counts
	line func(*counts, string) error // adds one
}

func openAccessLog(path string, line func(*counts, string) error) (*accessLog, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the access log: %w", err)
	}
	return &accessLog{file: file, in: bufio.NewReaderSize(file, 64<<10), line: line}, nil
}

// Close closes the file.
func (l *accessLog) Close() error { return l.file.Close() }

// read returns the counts of all lines written so far.
func (l *accessLog) read() (counts, error) {
	for {
		more, err := l.in.ReadString('\n')
		l.rest += more
		if errors.Is(err, io.EOF) {
			return l.sum, nil
		}
		if err == nil {
			err = l.line(&l.sum, strings.TrimSuffix(l.rest, "\n"))
		}
		if err != nil {
			return counts{}, fmt.Errorf("read the access log: %w", err)
		}
		l.rest = ""
	}
}
