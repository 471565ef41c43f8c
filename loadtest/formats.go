package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	formatSeq      = "seq"      // seq id size
	formatCombined = "combined" // Apache and nginx, common or combined
	formatTSV      = "tsv"      // a header line names the columns
)

// sampledLines is how many lines are looked at to find out the format: enough to
// outvote odd ones.
const sampledLines = 50

var (
	errFormat = errors.New("format not recognised: want lines of `seq id size`, an Apache or nginx access log, " +
		"or TSV with a header line; --format forces one")
	errPopularity = errors.New("this is a popularity distribution (count blocks of `size share`), not a sequence of requests: " +
		"it cannot be replayed; use zipf:... for made-up requests")
	errPacked = errors.New("compressed: unpack it first")
)

func formatNames() []string { return []string{formatSeq, formatCombined, formatTSV} }

func newLineReader(format string, br *bufio.Reader) (lineReader, error) {
	switch format {
	case formatSeq:
		return readSeq, nil
	case formatCombined:
		return readCombined, nil
	case formatTSV:
		header, err := br.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("read the header line: %w", err)
		}
		return newTSV(strings.TrimRight(header, "\r\n"))
	}
	return nil, fmt.Errorf("unknown format %q", format)
}

// detect names the format of the file that begins with sample.
func detect(sample []byte) (string, error) {
	for _, magic := range [...]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ", "BZh"} {
		if bytes.HasPrefix(sample, []byte(magic)) {
			return "", errPacked
		}
	}
	first, _, _ := bytes.Cut(sample, []byte("\n"))
	if _, err := newTSV(string(trimEnd(first))); err == nil {
		return formatTSV, nil
	}
	var seq, combined, popularity, seen int
	for line := range bytes.Lines(sample) {
		if seen++; seen > sampledLines {
			break
		}
		switch line = trimEnd(line); {
		case looksSeq(line):
			seq++
		case looksCombined(line):
			combined++
		case looksPopularity(line):
			popularity++
		}
	}
	switch max(seq, combined, popularity) {
	case 0:
		return "", errFormat
	case seq:
		return formatSeq, nil
	case combined:
		return formatCombined, nil
	}
	return "", errPopularity
}

func looksSeq(line []byte) bool {
	_, _, ok := splitSeq(line)
	return ok
}

func looksCombined(line []byte) bool {
	_, ok := splitCombined(line)
	return ok
}

func looksPopularity(line []byte) bool {
	f := bytes.Fields(line)
	if len(f) == 0 || len(f) > 2 {
		return false
	}
	for _, s := range f {
		if _, err := strconv.ParseFloat(string(s), 64); err != nil {
			return false
		}
	}
	return true
}

// splitSeq reads `seq id size`. The id may be any word.
func splitSeq(line []byte) (id []byte, size int64, ok bool) {
	f := bytes.Fields(line)
	if len(f) != 3 {
		return nil, 0, false
	}
	if _, err := strconv.ParseInt(string(f[0]), 10, 64); err != nil {
		return nil, 0, false
	}
	size, err := strconv.ParseInt(string(f[2]), 10, 64)
	return f[1], size, err == nil && size >= 0 && size <= maxObjectBytes
}

func readSeq(b *builder, line []byte) bool {
	id, size, ok := splitSeq(line)
	if ok {
		b.add(append([]byte("/o/"), id...), size)
	}
	return ok
}
