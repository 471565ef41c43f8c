package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// nginxHits are the values of $upstream_cache_status that count as hits.
var nginxHits = []string{"HIT", "STALE", "UPDATING", "REVALIDATED"}

// accessLog adds up the access log of an nginx while it is written: what became of
// each request, its status, its body's bytes, and those of its fetches from the
// origin, if any. Not for concurrent use.
type accessLog struct {
	file *os.File
	buf  [64 << 10]byte
	rest []byte // of a line whose end is not written yet
	sum  counts
}

func openAccessLog(path string) (*accessLog, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read nginx's access log: %w", err)
	}
	return &accessLog{file: file}, nil
}

// Close gives the file back.
func (l *accessLog) Close() error { return l.file.Close() }

// read returns the counts of all that is written by now.
func (l *accessLog) read() (counts, error) {
	for {
		n, err := l.file.Read(l.buf[:])
		if addErr := l.add(l.buf[:n]); addErr != nil {
			return counts{}, fmt.Errorf("read nginx's access log: %w", addErr)
		}
		if errors.Is(err, io.EOF) {
			return l.sum, nil
		}
		if err != nil {
			return counts{}, fmt.Errorf("read nginx's access log: %w", err)
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
		if err := l.sum.addLine(string(line)); err != nil {
			return err
		}
		l.rest = rest
	}
}

// addLine counts one request. Its last field holds a number for each fetch, as
// there are several when a kept connection turned out to be closed, and "-" where
// there was none.
func (c *counts) addLine(line string) error {
	f := strings.Fields(line)
	if len(f) < 4 {
		return fmt.Errorf("line %q: want at least 4 fields", line)
	}
	status, err := strconv.Atoi(f[1])
	if err != nil {
		return fmt.Errorf("line %q: status: %w", line, err)
	}
	bytes, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("line %q: bytes: %w", line, err)
	}
	c.requests++
	c.responseBytes += bytes
	switch {
	case status >= 400:
		c.failed++
		c.failedBytes += bytes
	case slices.Contains(nginxHits, f[0]):
		c.hits++
		c.hitBytes += bytes
	case f[0] == "BYPASS":
		c.passed++
	}
	for _, fetched := range f[3:] {
		if n, err := strconv.ParseInt(strings.Trim(fetched, ",:"), 10, 64); err == nil {
			c.originRequests++
			c.originBytes += n
		}
	}
	return nil
}
