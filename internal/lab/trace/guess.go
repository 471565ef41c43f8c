package trace

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// sampledLines is how many lines are used to detect the format: enough to outvote odd
// ones.
const sampledLines = 50

// A guess is used if three of four lines fit it, of fewer than fewLines half of them. A log has odd lines, but one with more is of
// another format, of which only a part happens to fit.
const fewLines = 20

func fitsEnough(fit, lines int) bool {
	if lines < fewLines {
		return 2*fit >= lines
	}
	return 4*fit >= 3*lines
}

var (
	errFormat = errors.New("format not recognised: must be lines of `seq id size`, an Apache or nginx access log, one of Envoy, HAProxy, Traefik, " +
		"Caddy in JSON, Squid (native), CloudFront or W3C extended, of Amazon's, Cloudflare's or Google's load balancers, our own log in JSON, " +
		"or TSV or CSV with a header line; --format takes one for certain, and --fields target=NAME,bytes=NAME reads JSON, TSV or CSV with other names")
	errDistribution = errors.New("this is a popularity distribution (blocks of `size share`), not a sequence of requests: " +
		"popularity:FILE makes requests up from it")
	errManyLines = errors.New("a JSON value goes over several lines: must be one object a line, as `jq -c .` writes it, of a list `jq -c '.[]'`")
)

// guess is a format, and how well it fits.
type guess struct {
	form       format
	unwrap     unwrapper // nil: nothing is around the lines
	fit, lines int
}

// detect returns the format of a file that begins with sample. A header with names of
// columns decides; otherwise the lines vote.
func detect(sample []byte) (guess, error) {
	if form, ok := headed(sample); ok {
		return guess{form: form}, nil
	}
	lines := sampled(sample)
	best := vote(lines, formats())
	shares := 0
	for _, line := range lines {
		if looksDistribution(line) {
			shares++
		}
	}
	switch {
	case shares > best.fit:
		return guess{}, errDistribution
	case best.fit == 0 && manyLines(sample):
		return guess{}, errManyLines
	case best.fit == 0:
		return guess{}, errFormat
	case !fitsEnough(best.fit, best.lines):
		return guess{}, fmt.Errorf("format not recognised: of the first %d lines %d are like %s, too few to go by; --format %s uses those",
			best.lines, best.fit, best.form.name, best.form.name)
	}
	return best, nil
}

// headed returns the format that the header of a file shows.
func headed(sample []byte) (format, bool) {
	all := formats()
	name, first := "", firstLine(sample)
	if _, ok := fieldsDirective(sample); ok {
		name = formatW3C
	} else if split := splitBy(first, headings()); split != nil {
		name = formatCSV
		if bytes.IndexByte(first, '\t') >= 0 {
			name = formatTSV
		}
	}
	for _, d := range dialects() {
		if name == "" && splitBy(first, d.fields) != nil {
			name = d.name
		}
	}
	for _, f := range all {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// splitBy returns the splitter for a header line with the names of n, nil if it has not those.
func splitBy(header []byte, n names) splitter {
	if len(n[roleBytes]) == 0 {
		return nil
	}
	split := newSplitCSV()
	if bytes.IndexByte(header, '\t') >= 0 {
		split = splitTSV
	}
	if _, err := newColumns(split, n, header); err != nil {
		return nil
	}
	return split
}

func firstLine(sample []byte) []byte {
	first, _, _ := bytes.Cut(sample, []byte("\n"))
	return trimEnd(first)
}

// sampled returns the first lines that are not empty. A last one that the sample cuts is not among them.
func sampled(sample []byte) (lines [][]byte) {
	if end := bytes.LastIndexByte(sample, '\n'); len(sample) == maxLineBytes && end >= 0 {
		sample = sample[:end]
	}
	for line := range bytes.Lines(sample) {
		if line = trimEnd(line); len(line) > 0 && len(lines) < sampledLines {
			lines = append(lines, line)
		}
	}
	return lines
}

// vote returns the format that most of the lines have, and what is around them.
func vote(lines [][]byte, among []format) guess {
	var best guess
	for _, unwrap := range append(unwrappers(), nil) {
		inner := lines
		if unwrap != nil {
			inner = unwrapAll(lines, unwrap)
		}
		for _, f := range among {
			if n := f.fit(inner); n > best.fit {
				best = guess{form: f, unwrap: unwrap, fit: n}
			}
		}
	}
	best.lines = len(lines)
	return best
}

// fit returns how many of the lines have the format.
func (f *format) fit(lines [][]byte) (n int) {
	if f.looks == nil {
		return 0
	}
	for _, line := range lines {
		if f.looks(line) {
			n++
		}
	}
	return n
}

// manyLines reports whether sample begins with a JSON object or list that its first line does not end.
func manyLines(sample []byte) bool {
	switch string(bytes.TrimSpace(firstLine(sample))) {
	case "{", "[", "[{":
		return true
	}
	return bytes.HasPrefix(bytes.TrimSpace(sample), []byte(`[{"`))
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
