// Package field holds HTTP header and trailer fields as a flat, ordered list.
//
// It answers one question: what fields does this message have, in which order?
// Names are in canonical form (Content-Type), so a lookup with a canonical name
// needs no folding. A list is plain data: it does no parsing, knows no meaning
// of any field, and is safe to share once nobody writes to it.
package field

// Field is one field line (RFC 9110 section 5): a name in canonical form and a
// value without surrounding white space. Repeated names are repeated Fields.
type Field struct {
	Name, Value string
}

// List holds fields in the order received. A nil List is an empty message head.
type List []Field

// Get returns the value of the first field called name and whether there is
// one. Name must be in canonical form.
func (l List) Get(name string) (string, bool) {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value, true
		}
	}
	return "", false
}

// Has reports whether a field called name (canonical form) is present.
func (l List) Has(name string) bool {
	_, ok := l.Get(name)
	return ok
}

// Values returns the values of all fields called name (canonical form), in
// order; nil if there are none. It allocates only when there is one.
func (l List) Values(name string) []string {
	var out []string
	for i := range l {
		if l[i].Name == name {
			out = append(out, l[i].Value)
		}
	}
	return out
}

// Add appends one field. Name must be in canonical form.
func (l *List) Add(name, value string) {
	*l = append(*l, Field{Name: name, Value: value})
}

// Without returns the fields for which drop says false, in order, in a new
// List that shares only the strings.
func (l List) Without(drop func(name string) bool) List {
	out := make(List, 0, len(l))
	for i := range l {
		if !drop(l[i].Name) {
			out = append(out, l[i])
		}
	}
	return out
}

// Size returns the bytes the list takes on the wire: name, colon, space, value
// and CRLF of each field.
func (l List) Size() int64 {
	var n int64
	for i := range l {
		n += int64(len(l[i].Name) + len(l[i].Value) + 4)
	}
	return n
}

// Canonical returns name in canonical form: the first letter and each letter
// after a hyphen in upper case, the others in lower case. It returns name
// itself, without allocating, when it already has that form.
func Canonical(name string) string {
	fits := &fitsFirst
	for i := 0; i < len(name); i++ {
		if !fits[name[i]] {
			return canonicalCopy(name)
		}
		fits = &fitsLater
		if name[i] == '-' {
			fits = &fitsFirst
		}
	}
	return name
}

// fitsFirst and fitsLater are the bytes that have their canonical form at the beginning of a word, and
// within it.
var fitsFirst, fitsLater = func() (first, later [256]bool) {
	for i := range 256 {
		c := byte(i)
		first[i], later[i] = fold(c, true) == c, fold(c, false) == c
	}
	return first, later
}()

func canonicalCopy(name string) string {
	b := []byte(name)
	upper := true
	for i, c := range b {
		b[i] = fold(c, upper)
		upper = c == '-'
	}
	return string(b)
}

func fold(c byte, upper bool) byte {
	switch {
	case upper && 'a' <= c && c <= 'z':
		return c - 'a' + 'A'
	case !upper && 'A' <= c && c <= 'Z':
		return c - 'A' + 'a'
	}
	return c
}

// ValidName reports whether name is a token (RFC 9110 section 5.6.2), the only
// form a field name or a method may have.
func ValidName[T string | []byte](name T) bool {
	for i := 0; i < len(name); i++ {
		if !tokenByte[name[i]] {
			return false
		}
	}
	return len(name) > 0
}

// ValidValue reports whether value holds only bytes a field value may have
// (RFC 9110 section 5.5): no control byte but the tab.
func ValidValue[T string | []byte](value T) bool {
	i := 0
	for ; i+8 <= len(value); i += 8 {
		if mayHoldControl(uint64(value[i]) | uint64(value[i+1])<<8 | uint64(value[i+2])<<16 | uint64(value[i+3])<<24 |
			uint64(value[i+4])<<32 | uint64(value[i+5])<<40 | uint64(value[i+6])<<48 | uint64(value[i+7])<<56) {
			break
		}
	}
	for ; i < len(value); i++ {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// mayHoldControl reports false only where none of eight bytes is a control byte. Of each byte
// the highest bit tells: it is set by taking off 0x20 from one that is less, and by taking off 1 from a
// 0x7f that was turned into 0, where it was not set before. A borrow from the byte beneath can but
// add a false alarm.
func mayHoldControl(eight uint64) bool {
	const each = 0x0101010101010101
	deleted := eight ^ 0x7f*each
	return ((eight-0x20*each)&^eight|(deleted-each)&^deleted)&(0x80*each) != 0
}

var tokenByte = func() (t [256]bool) {
	for c := '0'; c <= '9'; c++ {
		t[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = true, true
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()
