package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// accessLog sums up the access log of another proxy while it is written: the result of
// each request, its status, its body bytes, and those of its fetches from the origin.
// It is not safe for concurrent use.
type accessLog struct {
	file *os.File
	buf  [64 << 10]byte
	rest []byte // an incomplete last line
	sum  counts
	line func(*counts, string) error // adds one
}

func openAccessLog(path string, line func(*counts, string) error) (*accessLog, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the access log: %w", err)
	}
	return &accessLog{file: file, line: line}, nil
}

// Close closes the file.
func (l *accessLog) Close() error { return l.file.Close() }

// read returns the counts of all lines written so far.
func (l *accessLog) read() (counts, error) {
	for {
		n, err := l.file.Read(l.buf[:])
		if addErr := l.add(l.buf[:n]); addErr != nil {
			return counts{}, fmt.Errorf("read the access log: %w", addErr)
		}
		if errors.Is(err, io.EOF) {
			return l.sum, nil
		}
		if err != nil {
			return counts{}, fmt.Errorf("read the access log: %w", err)
		}
	}
}

func (l *accessLog) add(text []byte) error {
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return nil
		}
		if err := l.line(&l.sum, string(line)); err != nil {
			return err
		}
		l.rest = rest
	}
}
