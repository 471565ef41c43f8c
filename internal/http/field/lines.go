package field

import "strings"

// Lines is a header as HTTP/1.1 sends it: for each field its name in canonical form, a colon, a
// space, its value, and CRLF. The strings that its methods return are parts of it. Lines that were
// made of valid fields return the same fields.
type Lines string

// AppendLines appends the fields of l to b in the form of Lines.
func AppendLines(b []byte, l List) []byte {
	for i := range l {
		b = append(b, l[i].Name...)
		b = append(b, ':', ' ')
		b = append(b, l[i].Value...)
		b = append(b, '\r', '\n')
	}
	return b
}

// Next returns the first field and the Lines after it. Ok is false if there is no field.
func (l Lines) Next() (f Field, rest Lines, ok bool) {
	end := strings.IndexByte(string(l), '\n')
	colon := strings.IndexByte(string(l), ':')
	if end < 0 || colon < 0 || colon+2 > end-1 {
		return Field{}, "", false
	}
	return Field{Name: string(l[:colon]), Value: string(l[colon+2 : end-1])}, l[end+1:], true
}

// AppendTo appends the fields to list. It allocates only if list has to grow.
func (l Lines) AppendTo(list List) List {
	for f, rest, ok := l.Next(); ok; f, rest, ok = rest.Next() {
		list = append(list, f)
	}
	return list
}

// Last returns the last field and the Lines before it.
func (l Lines) Last() (before Lines, f Field) {
	if len(l) == 0 {
		return "", Field{}
	}
	at := strings.LastIndexByte(string(l[:len(l)-1]), '\n') + 1
	f, _, _ = l[at:].Next()
	return l[:at], f
}

// Get returns the value of the first field with this name, and whether there is one. Name must
// be in canonical form.
func (l Lines) Get(name string) (string, bool) {
	for f, rest, ok := l.Next(); ok; f, rest, ok = rest.Next() {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}
