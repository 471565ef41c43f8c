package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// splitter splits a line into fields and appends them to dst. ok is false if the line
// is malformed. The fields are valid until the next call.
type splitter func(dst [][]byte, line []byte) (fields [][]byte, ok bool)

// columns reads lines whose fields a header names.
type columns struct {
	split  splitter
	at     [roles]int // -1 = no such column
	count  int
	fields [][]byte
	reader recordReader
}

func openTSV(lines *bufio.Reader) (parser, error) { return openColumns(splitTSV, headings(), lines) }

func openCSV(lines *bufio.Reader) (parser, error) {
	return openColumns(newSplitCSV(), headings(), lines)
}

// openColumns reads the header line, which has to have the columns of these roles.
func openColumns(split splitter, n names, lines *bufio.Reader, wanted ...role) (parser, error) {
	header, err := lines.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the header line: %w", err)
	}
	if len(header) == 0 {
		return nil, nil // an empty file
	}
	c, err := newColumns(split, n, trimEnd(header))
	if err != nil {
		return nil, err
	}
	for _, r := range wanted {
		if c.at[r] < 0 {
			return nil, noColumn(n[r])
		}
	}
	return c.parse, nil
}

func newColumns(split splitter, n names, header []byte) (*columns, error) {
	heads, ok := split(nil, header)
	if !ok {
		return nil, errors.New("the header line breaks the rules of quoting")
	}
	c := &columns{split: split, count: len(heads), reader: newRecordReader()}
	for r, list := range n {
		c.at[r] = -1
		for i := 0; i < len(list) && c.at[r] < 0; i++ {
			c.at[r] = indexFold(heads, list[i])
		}
	}
	if c.at[roleRequest] >= 0 {
		n[roleTarget] = nil
	}
	for _, r := range [...]role{roleTarget, roleBytes} {
		if c.at[r] < 0 && len(n[r]) > 0 {
			return nil, noColumn(n[r])
		}
	}
	return c, nil
}

// noColumn is the error of a header line that has none of these names.
func noColumn(list []string) error {
	if len(list) == 1 {
		return fmt.Errorf("the header line has no column %q", printable(list[0]))
	}
	return fmt.Errorf("the header line has no column %q, nor one of its other names: %s; --fields names others", list[0], strings.Join(list[1:], ", "))
}

// numberedColumns reads lines without a header, whose columns f numbers.
func numberedColumns(split splitter, f *Fields) (*columns, error) {
	c := &columns{split: split, reader: newRecordReader()}
	for r, name := range f.of {
		c.at[r] = -1
		if name == "" {
			continue
		}
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > maxColumns {
			return nil, fmt.Errorf("column %s of %s: must be 1 to %d", name, role(r), maxColumns)
		}
		c.at[r], c.count = n-1, max(c.count, n)
	}
	if c.at[roleTarget] < 0 && c.at[roleRequest] < 0 || c.at[roleBytes] < 0 {
		return nil, errors.New("columns by number: must be those of target and of bytes")
	}
	return c, nil
}

// maxColumns is the largest number of a column.
const maxColumns = 1000

func indexFold(names [][]byte, want string) int {
	for i, s := range names {
		if strings.EqualFold(string(bytes.TrimSpace(s)), want) {
			return i
		}
	}
	return -1
}

func (c *columns) parse(line []byte, r *request) verdict {
	var ok bool
	if c.fields, ok = c.split(c.fields[:0], line); !ok || len(c.fields) < c.count {
		return bad
	}
	var f record
	for r, at := range c.at {
		if at >= 0 {
			f[r] = c.fields[at]
		}
	}
	return c.reader.read(&f, r)
}

func splitTSV(dst [][]byte, line []byte) ([][]byte, bool) {
	for {
		i := bytes.IndexByte(line, '\t')
		if i < 0 {
			return append(dst, line), true
		}
		dst, line = append(dst, line[:i]), line[i+1:]
	}
}

// newSplitCSV returns a splitter by the rules of RFC 4180, with two exceptions: a
// field has no line break, and a quote inside a field without quotes is literal.
func newSplitCSV() splitter {
	var text []byte // fields with doubled quotes, without the doubling
	return func(dst [][]byte, line []byte) ([][]byte, bool) {
		text = text[:0]
		for {
			if len(line) == 0 || line[0] != '"' {
				i := bytes.IndexByte(line, ',')
				if i < 0 {
					return append(dst, line), true
				}
				dst, line = append(dst, line[:i]), line[i+1:]
				continue
			}
			value, rest, grown, ok := cutCSVQuoted(line[1:], text)
			if !ok {
				return dst, false
			}
			text = grown
			dst = append(dst, value)
			if len(rest) == 0 {
				return dst, true
			}
			line = rest[1:]
		}
	}
}

// cutCSVQuoted returns the value of a field whose opening quote is cut off, and
// the rest from the comma on, or nothing. A value with doubled quotes is written
// behind text.
func cutCSVQuoted(s, text []byte) (value, rest, grown []byte, ok bool) {
	start, plain := len(text), true
	for {
		i := bytes.IndexByte(s, '"')
		if i < 0 {
			return nil, nil, text, false
		}
		value, rest = s[:i], s[i+1:]
		double := len(rest) > 0 && rest[0] == '"'
		if !double && plain {
			break
		}
		plain = false
		text = append(text, value...)
		if !double {
			value = text[start:len(text):len(text)]
			break
		}
		text = append(text, '"')
		s = rest[1:]
	}
	return value, rest, text, len(rest) == 0 || rest[0] == ','
}
