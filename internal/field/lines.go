package field

import "strings"

// Lines is a header as HTTP/1.1 sends it: the name of each field in canonical form, a colon, a
// space, its value, and CRLF. It never changes, and the strings that it gives are parts of it. What
// was made of fields that are valid gives the same fields.
type Lines string

// AppendLines appends the fields of l as Lines.
func AppendLines(b []byte, l List) []byte {
	for i := range l {
		b = append(b, l[i].Name...)
		b = append(b, ':', ' ')
		b = append(b, l[i].Value...)
		b = append(b, '\r', '\n')
	}
	return b
}

// Next returns the first field and what follows it; false where there is none.
func (l Lines) Next() (f Field, rest Lines, ok bool) {
	end := strings.IndexByte(string(l), '\n')
	colon := strings.IndexByte(string(l), ':')
	if end < 0 || colon < 0 || colon+2 > end-1 {
		return Field{}, "", false
	}
	return Field{Name: string(l[:colon]), Value: string(l[colon+2 : end-1])}, l[end+1:], true
}

// AppendTo appends the fields to list. It allocates nothing where there is room.
func (l Lines) AppendTo(list List) List {
	for f, rest, ok := l.Next(); ok; f, rest, ok = rest.Next() {
		list = append(list, f)
	}
	return list
}

// Last returns the last field and what comes before it.
func (l Lines) Last() (before Lines, f Field) {
	if len(l) == 0 {
		return "", Field{}
	}
	at := strings.LastIndexByte(string(l[:len(l)-1]), '\n') + 1
	f, _, _ = l[at:].Next()
	return l[:at], f
}

// Get returns the value of the first field called name and whether there is one. Name must be in
// canonical form.
func (l Lines) Get(name string) (string, bool) {
	for f, rest, ok := l.Next(); ok; f, rest, ok = rest.Next() {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}
