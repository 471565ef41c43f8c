package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
	out := []format{
		{name: formatSeq, open: headless(newSeq), looks: looks(newSeq)},
		{name: formatCombined, open: headless(newCombined), looks: looks(newCombined)},
		{name: formatTSV, open: openTSV},
		{name: formatCSV, open: openCSV},
		{name: formatJSON, open: headless(newJSON), looks: looks(newJSON)},
		{name: formatCaddy, open: headless(newCaddy), looks: looks(newCaddy)},
		{name: formatSquid, open: headless(newSquid), looks: looks(newSquid)},
		{name: formatW3C, open: openW3C},
	}
	for _, d := range dialects() {
		out = append(out, format{name: d.name, open: d.open, looks: looks(d.newParser)})
	}
	return out
}

// looks reports whether a line has the format of a parser. It uses a new one each time, so that the file's parser keeps its
// state.
func looks(newParser func() parser) func([]byte) bool {
	return func(line []byte) bool { return newParser()(bytes.Clone(line), &request{}) != bad }
}

// open returns the parser of one file: by the names in its header line, or of its lines.
func (d dialect) open(lines *bufio.Reader) (parser, error) {
	sample, err := lines.Peek(maxLineBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if split := splitBy(firstLine(sample), d.fields); split != nil {
		return openColumns(split, d.fields, lines)
	}
	return d.newParser(), nil
}

// newParser returns a parser of lines, which are JSON objects or text.
func (d dialect) newParser() parser {
	object, text := parser(nil), parser(nil)
	if len(d.fields[roleBytes]) > 0 {
		p := newNamedJSON(d.fields)
		p.reader = recordReader{sparse: d.sparse} // each object has a method and a status
		object = p.parse
	}
	if d.text != nil {
		text = d.text()
	}
	return func(line []byte, r *request) verdict {
		parse := text
		if len(line) > 0 && line[0] == '{' {
			parse = object
		}
		if parse == nil {
			return bad
		}
		return parse(line, r)
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
	return format{}, fmt.Errorf("unknown format %q: must be %s", name, strings.Join(Formats(), ", "))
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
