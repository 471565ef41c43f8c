package trace

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonField is a name of an object's member, and what is wanted of it.
type jsonField struct {
	role   role
	rank   int                   // rank among its names for the role, from 1; 0: it has no role
	inside map[string]*jsonField // fields of the object that is its value
}

// newJSONFields returns the fields of a line with these names.
func newJSONFields(n names) *jsonField {
	root := &jsonField{inside: map[string]*jsonField{}}
	for r, list := range n {
		for i, name := range list {
			root.add(name, role(r), i+1)
		}
	}
	return root
}

// add adds a name. One with dots is both a name and a path.
func (f *jsonField) add(name string, r role, rank int) {
	at := f.member(name)
	at.role, at.rank = r, rank
	if parent, child, ok := strings.Cut(name, "."); ok {
		f.member(parent).add(child, r, rank)
	}
}

// member returns the field inside f with this name, which it makes if there is none.
func (f *jsonField) member(name string) *jsonField {
	if f.inside == nil {
		f.inside = map[string]*jsonField{}
	}
	at, ok := f.inside[name]
	if !ok {
		at = &jsonField{}
		f.inside[name] = at
	}
	return at
}

// namedJSON reads one JSON object a line, by the names of its fields.
type namedJSON struct {
	fields *jsonField
	reader recordReader
	record record
	ranks  [roles]int // ranks of the names that the values come from
}

func newNamedJSON(n names) *namedJSON {
	return &namedJSON{fields: newJSONFields(n), reader: newRecordReader()}
}

func (p *namedJSON) parse(line []byte, r *request) verdict {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
		return bad
	}
	p.record, p.ranks = record{}, [roles]int{}
	p.read(p.fields, line[1:])
	return p.reader.read(&p.record, r)
}

// read reads the values from the text behind the brace of a valid object.
func (p *namedJSON) read(f *jsonField, text []byte) {
	for name, value, rest := cutMember(text); name != nil; name, value, rest = cutMember(rest) {
		at, ok := f.inside[string(plainText(name))]
		switch {
		case !ok:
		case value[0] == '{':
			p.read(at, value[1:])
		default:
			p.set(at, value)
		}
	}
}

// set takes the value of a field, unless there is one of a better name.
func (p *namedJSON) set(f *jsonField, value []byte) {
	if f.rank == 0 || value[0] == '[' || string(value) == "null" {
		return
	}
	text, before := plainText(value), p.record[f.role]
	if has := hasText(before); has && (!hasText(text) || p.ranks[f.role] < f.rank) {
		return
	}
	p.record[f.role], p.ranks[f.role] = text, f.rank
}

// hasText reports whether the value of a field says anything.
func hasText(s []byte) bool { return len(s) > 0 && string(s) != "-" }
