package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	formatSeq      = "seq"
	formatCombined = "combined"
	formatTSV      = "tsv"
	formatCSV      = "csv"
	formatJSON     = "json"
	formatCaddy    = "caddy"
	formatSquid    = "squid"
	formatW3C      = "w3c"
)

// sampledLines is how many lines are used to detect the format: enough to outvote odd
// ones.
const sampledLines = 50

var (
	errFormat = errors.New("format not recognised: want lines of `seq id size`, an Apache or nginx access log, " +
		"one of Caddy in JSON, of Squid (native), CloudFront or W3C extended, our own log in JSON, or TSV or CSV with a header line; --format takes one for certain")
	errDistribution = errors.New("this is a popularity distribution (blocks of `size share`), not a sequence of requests: " +
		"popularity:FILE makes requests up from it")
)

// verdict is the result of parsing a line.
type verdict uint8

const (
	bad     verdict = iota // malformed
	skipped                // well-formed, but no request that counts
	used
	metadata // it is a directive about other lines
)

// parser parses one line into r, which is zero before. The bytes in r belong to the
// line or to the parser, and are valid until the next call. A parser is for one file,
// and not safe for concurrent use.
type parser func(line []byte, r *request) verdict

// format is a format of logs.
type format struct {
	name string
	// open returns the parser of one file; it may read a header from lines.
	open func(lines *bufio.Reader) (parser, error)
	// looks reports whether a line has this format; nil if only a header shows it.
	looks func(line []byte) bool
}

func formats() []format {
	headless := func(newParser func() parser) func(*bufio.Reader) (parser, error) {
		return func(*bufio.Reader) (parser, error) { return newParser(), nil }
	}
	// looks uses a new parser each time, so that the file's parser keeps its state.
	looks := func(newParser func() parser) func([]byte) bool {
		return func(line []byte) bool { return newParser()(line, &request{}) != bad }
	}
	return []format{
		{name: formatSeq, open: headless(newSeq), looks: looks(newSeq)},
		{name: formatCombined, open: headless(newCombined), looks: looks(newCombined)},
		{name: formatTSV, open: openTSV},
		{name: formatCSV, open: openCSV},
		{name: formatJSON, open: headless(newJSON), looks: looks(newJSON)},
		{name: formatCaddy, open: headless(newCaddy), looks: looks(newCaddy)},
		{name: formatSquid, open: headless(newSquid), looks: looks(newSquid)},
		{name: formatW3C, open: openW3C},
	}
}

// Formats returns the names that Options.Format takes.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

func formatOf(name string) (format, error) {
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("unknown format %q: want %s", name, strings.Join(Formats(), ", "))
}

// detect returns the format of a file that begins with sample. A header with names of
// columns decides; otherwise the lines vote.
func detect(sample []byte) (string, error) {
	first, _, _ := bytes.Cut(sample, []byte("\n"))
	first = trimEnd(first)
	if _, ok := fieldsDirective(sample); ok {
		return formatW3C, nil
	}
	if _, err := newColumns(splitTSV, first); err == nil {
		return formatTSV, nil
	}
	if _, err := newColumns(newSplitCSV(), first); err == nil {
		return formatCSV, nil
	}
	return vote(sample)
}

// vote returns the format that most of the first lines have.
func vote(sample []byte) (string, error) {
	winner, most, shares, seen := "", 0, 0, 0
	votes := map[string]int{}
	for line := range bytes.Lines(sample) {
		if line = trimEnd(line); len(line) == 0 {
			continue
		}
		if seen++; seen > sampledLines {
			break
		}
		if looksDistribution(line) {
			shares++
		}
		for _, f := range formats() {
			if f.looks != nil && f.looks(line) {
				votes[f.name]++
			}
			if votes[f.name] > most {
				winner, most = f.name, votes[f.name]
			}
		}
	}
	switch {
	case shares > most:
		return "", errDistribution
	case most == 0:
		return "", errFormat
	}
	return winner, nil
}

// looksDistribution reports whether line is one number, or a size and a share.
func looksDistribution(line []byte) bool {
	rest, numbers := line, 0
	for {
		var f []byte
		if f, rest = field(rest); len(f) == 0 {
			return numbers == 1 || numbers == 2
		}
		if _, err := strconv.ParseFloat(string(f), 64); err != nil {
			return false
		}
		numbers++
	}
}

// field returns the first word of s and the rest; the word is empty if there is none.
func field(s []byte) (word, rest []byte) {
	s = bytes.TrimLeft(s, " \t")
	i := bytes.IndexAny(s, " \t")
	if i < 0 {
		return s, nil
	}
	return s[:i], s[i:]
}

// newSeq reads `seq id size`: a line number, any word, and bytes. libCacheSim and the
// AdaptSize simulator use this format.
func newSeq() parser {
	var target []byte
	return func(line []byte, r *request) verdict {
		seq, rest := field(line)
		id, rest := field(rest)
		size, rest := field(rest)
		end, _ := field(rest)
		if _, ok := parseCount(seq); !ok || len(id) == 0 || len(end) > 0 {
			return bad
		}
		var ok bool
		if r.size, ok = parseSize(size); !ok {
			return bad
		}
		target = append(append(target[:0], "/o/"...), id...)
		r.target = target
		return used
	}
}

// parseCount reads digits. Unlike strconv it takes bytes without a copy.
func parseCount(s []byte) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// parseSize reads the bytes of an object.
func parseSize(s []byte) (int64, bool) {
	n, ok := parseCount(s)
	return n, ok && n <= maxObjectBytes
}

// parseSent reads the bytes of a response in a log; "-" means none.
func parseSent(s []byte) (int64, bool) {
	if string(s) == "-" {
		return 0, true
	}
	return parseSize(s)
}
