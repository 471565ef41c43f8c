package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Check refuses fields beside a format that names its fields itself.
func (f *Fields) Check(format string) error {
	if f.given() && format != "" && format != formatJSON && format != formatTSV && format != formatCSV {
		return fmt.Errorf("%s: must have no other format than json, tsv or csv: %s names its fields itself", f, format)
	}
	return nil
}

// guess returns the format of a file that begins with sample and has these fields: JSON, TSV or CSV, by its content unless
// format says which.
func (f *Fields) guess(format string, sample []byte) (guess, error) {
	if format == "" {
		format = f.kind(sample)
	}
	if format == formatJSON {
		return f.guessJSON(sample)
	}
	newSplit := newSplitCSV
	if format == formatTSV {
		newSplit = func() splitter { return splitTSV }
	}
	return guess{form: f.table(format, newSplit)}, nil
}

// kind returns the kind of a file by its first lines.
func (f *Fields) kind(sample []byte) string {
	lines := sampled(sample)
	switch {
	case 2*vote(lines, []format{f.object()}).fit > len(lines) || manyLines(sample):
		return formatJSON
	case bytes.IndexByte(firstLine(sample), '\t') >= 0:
		return formatTSV
	}
	return formatCSV
}

// object returns the format of lines that are JSON objects.
func (f *Fields) object() format {
	fields := f.names()
	return format{
		name:  formatJSON,
		open:  func(*bufio.Reader) (parser, error) { return newNamedJSON(fields).parse, nil },
		looks: func(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) },
	}
}

// table returns the format of lines with columns.
func (f *Fields) table(name string, newSplit func() splitter) format {
	open := func(lines *bufio.Reader) (parser, error) {
		if f.numbered() {
			c, err := numberedColumns(newSplit(), f)
			if err != nil {
				return nil, err
			}
			return c.parse, nil
		}
		return openColumns(newSplit(), f.names(), lines, f.roles()...)
	}
	return format{name: name, open: open}
}

// roles returns the roles whose names are given.
func (f *Fields) roles() (out []role) {
	for r, name := range f.of {
		if name != "" {
			out = append(out, role(r))
		}
	}
	return out
}

// guessJSON returns the format of lines that are JSON objects with these fields. Each has to be in one of the first lines.
func (f *Fields) guessJSON(sample []byte) (guess, error) {
	if manyLines(sample) {
		return guess{}, errManyLines
	}
	lines := sampled(sample)
	g := vote(lines, []format{f.object()})
	g.form = f.object() // also if no line looks like one
	return g, f.missing(lines, g.unwrap)
}

// missing returns an error if no line has a field that is given.
func (f *Fields) missing(lines [][]byte, unwrap unwrapper) error {
	p, seen := newNamedJSON(f.names()), record{}
	for _, line := range lines {
		line = bytes.Clone(line)
		if unwrap != nil {
			if inner, ok := unwrap(line); ok {
				line = inner
			}
		}
		p.parse(line, &request{})
		for r, value := range p.record {
			if value != nil {
				seen[r] = value
			}
		}
	}
	var none []string
	for _, r := range f.roles() {
		if seen[r] == nil {
			none = append(none, fmt.Sprintf("%q (%s)", printable(f.of[r]), r))
		}
	}
	slices.Sort(none)
	if len(none) == 0 {
		return nil
	}
	return fmt.Errorf("none of the first %d lines has the field %s, which --fields names", len(lines), strings.Join(none, ", "))
}
