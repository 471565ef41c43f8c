package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The fields of the extended log format of the W3C that are used.
const (
	w3cDate = iota
	w3cTime
	w3cMethod
	w3cStem  // the path, or the whole target
	w3cQuery // without its question mark
	w3cURI   // target or URL, in place of stem and query
	w3cStatus
	w3cSent   // bytes of the response, with its header
	w3cLength // Content-Length, in place of w3cSent
	w3cHost
	w3cColumns
)

// w3cNames returns the names of each field, in lower case. The first one in the log is used.
func w3cNames() [w3cColumns][]string {
	return [w3cColumns][]string{
		w3cDate: {"date"}, w3cTime: {"time"},
		w3cMethod: {"cs-method"}, w3cStem: {"cs-uri-stem"}, w3cQuery: {"cs-uri-query"}, w3cURI: {"cs-uri"},
		w3cStatus: {"sc-status"}, w3cSent: {"sc-bytes", "bytes"}, w3cLength: {"sc-content-len"},
		w3cHost: {"x-host-header", "cs-host", "cs(host)"},
	}
}

// Directives, which begin a line.
const (
	directiveFields = "#Fields:"
	directiveDate   = "#Date:"
)

// openW3C returns the parser of the extended log format of the W3C, which CloudFront and
// IIS write. #Fields names the fields of the lines behind it, separated by tabs or blanks,
// and may come again. Times are in UTC.
func openW3C(lines *bufio.Reader) (parser, error) {
	sample, err := lines.Peek(maxLineBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(sample) == 0 {
		return nil, nil // an empty file
	}
	names, ok := fieldsDirective(sample)
	if !ok {
		return nil, errors.New(directiveFields + " is missing, which names what the lines have")
	}
	p := &w3cParser{}
	if err := p.setFields(names); err != nil {
		return nil, err
	}
	p.known = false // lines before the directive have no known fields
	return p.parse, nil
}

// fieldsDirective returns the names of the fields, if the directives at the beginning of
// a log have them.
func fieldsDirective(sample []byte) (names []byte, ok bool) {
	for line := range bytes.Lines(sample) {
		line = trimEnd(line)
		if names, ok = bytes.CutPrefix(line, []byte(directiveFields)); ok {
			return names, true
		}
		if len(line) > 0 && line[0] != '#' {
			return nil, false
		}
	}
	return nil, false
}

// w3cParser reads one file.
type w3cParser struct {
	known  bool // the fields are known known
	count  int
	at     [w3cColumns]int // -1 is no such field
	fields [][]byte
	times  clock
	date   []byte // date of the directive, if there is no such field
	text   []byte // a time, for the clock
	target []byte
}

// setFields sets the fields by their names.
func (p *w3cParser) setFields(names []byte) error {
	all := bytes.Fields(names)
	for column, list := range w3cNames() {
		p.at[column] = -1
		for i := 0; i < len(list) && p.at[column] < 0; i++ {
			p.at[column] = indexFold(all, list[i])
		}
	}
	p.count, p.known = len(all), true
	lacks := func(columns ...int) bool {
		for _, c := range columns {
			if p.at[c] >= 0 {
				return false
			}
		}
		return true
	}
	for _, want := range []struct {
		name  string
		lacks bool
	}{
		{"cs-method", lacks(w3cMethod)},
		{"sc-status", lacks(w3cStatus)},
		{"cs-uri-stem, nor a cs-uri", lacks(w3cStem, w3cURI)},
		{"sc-bytes, nor a sc-content-len", lacks(w3cSent, w3cLength)},
	} {
		if want.lacks {
			p.known = false
			return fmt.Errorf("%s has no %s: have the server log it", directiveFields, want.name)
		}
	}
	return nil
}

func (p *w3cParser) parse(line []byte, r *request) verdict {
	if line[0] == '#' {
		p.directive(line)
		return metadata
	}
	var ok bool
	if p.fields, ok = splitW3C(p.fields[:0], line); !ok || !p.known || len(p.fields) < p.count {
		return bad
	}
	method, status := p.field(w3cMethod), p.field(w3cStatus)
	if len(method) == 0 || len(status) == 0 {
		return bad
	}
	if r.size, ok = p.size(); !ok {
		return bad
	}
	r.at, r.timed = p.times.read(p.when())
	v := r.judge(method, status)
	if v == used && !p.url(r) {
		return bad
	}
	return v
}

// directive reads a directive, which is about the lines behind it.
func (p *w3cParser) directive(line []byte) {
	if names, ok := bytes.CutPrefix(line, []byte(directiveFields)); ok {
		_ = p.setFields(names) // if a field is missing, the following lines are bad
	} else if date, ok := bytes.CutPrefix(line, []byte(directiveDate)); ok {
		day, _ := field(date)
		p.date = append(p.date[:0], day...)
	}
}

// field returns a field of the current line, nil if it is missing or empty.
func (p *w3cParser) field(column int) []byte {
	if p.at[column] < 0 {
		return nil
	}
	if f := p.fields[p.at[column]]; string(f) != "-" {
		return f
	}
	return nil
}

// size returns the bytes of the object: Content-Length if the line has it.
func (p *w3cParser) size() (int64, bool) {
	if n, ok := parseSize(p.field(w3cLength)); ok {
		return n, true
	}
	sent := p.field(w3cSent)
	if sent == nil {
		return 0, true
	}
	return parseSize(sent)
}

// when returns the time in a format that clock reads.
func (p *w3cParser) when() []byte {
	date := p.field(w3cDate)
	if p.at[w3cDate] < 0 {
		date = p.date
	}
	p.text = append(append(p.text[:0], date...), 'T')
	return append(append(p.text, p.field(w3cTime)...), 'Z')
}

// url sets host and target, and reports whether there is a target.
func (p *w3cParser) url(r *request) bool {
	r.host = lower(p.field(w3cHost))
	if uri := p.field(w3cURI); uri != nil {
		if host, target, ok := splitURL(uri); ok {
			r.host, r.target = host, target
		} else {
			r.target = uri
		}
		return true
	}
	stem, query := p.field(w3cStem), p.field(w3cQuery)
	if len(stem) == 0 {
		return false
	}
	p.target = append(p.target[:0], stem...)
	if len(query) > 0 {
		p.target = append(append(p.target, '?'), query...)
	}
	r.target = p.target
	return true
}

// splitW3C splits a line at tabs, or if it has none at blanks outside of quotes.
func splitW3C(dst [][]byte, line []byte) ([][]byte, bool) {
	if bytes.IndexByte(line, '\t') >= 0 {
		return splitTSV(dst, line)
	}
	for {
		line = bytes.TrimLeft(line, " ")
		if len(line) == 0 {
			return dst, true
		}
		end := bytes.IndexByte(line, ' ')
		if line[0] == '"' {
			if end = quotedEnd(line); end < 0 {
				return dst, false
			}
		}
		if end < 0 {
			end = len(line)
		}
		dst, line = append(dst, line[:end]), line[end:]
	}
}

// quotedEnd returns the length of the quoted string at the beginning of s, -1 if it has no
// end. A quote within is doubled.
func quotedEnd(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '"':
		case i+1 < len(s) && s[i+1] == '"':
			i++
		default:
			return i + 1
		}
	}
	return -1
}
