// Package field holds HTTP header and trailer fields as a flat, ordered list.
//
// It answers one question: which fields does this message have, in which order?
// Names are in canonical form (Content-Type), so a look-up by canonical name needs
// no case folding. A list is plain data: it does no parsing, knows no meaning of
// any field, and may be shared once nobody writes to it.
package field

// Field is one field line (RFC 9110 section 5): a name in canonical form and a
// value without surrounding white space. A name may repeat.
type Field struct {
	Name, Value string
}

// List has fields in the order received. A nil List has none.
type List []Field

// Get returns the value of the first field with this name, and whether there is
// one. Name must be in canonical form.
func (l List) Get(name string) (string, bool) {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value, true
		}
	}
	return "", false
}

// Has reports whether there is a field with this name. Name must be in canonical form.
func (l List) Has(name string) bool {
	_, ok := l.Get(name)
	return ok
}

// Values returns the values of all fields with this name, in order; nil if there
// are none. Name must be in canonical form. It allocates only if there is one.
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

// Without returns the fields for which drop returns false, in order, in a new List
// that shares only the strings.
func (l List) Without(drop func(name string) bool) List {
	out := make(List, 0, len(l))
	for i := range l {
		if !drop(l[i].Name) {
			out = append(out, l[i])
		}
	}
	return out
}

// Size returns the length of the list in bytes as HTTP/1.1 sends it: name, colon,
// space, value and CRLF of each field.
func (l List) Size() int64 {
	var n int64
	for i := range l {
		n += int64(len(l[i].Name) + len(l[i].Value) + 4)
	}
	return n
}

// Canonical returns name in canonical form: the first letter and each letter after
// a hyphen in upper case, the others in lower case. If name already has that form,
// it returns name itself and does not allocate.
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

// fitsFirst and fitsLater have the bytes that are in canonical form as the first byte of a word, and
// as a later one. Words are separated by hyphens.
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

// ValidName reports whether name is a token (RFC 9110 section 5.6.2), the only form
// that a field name or a method may have.
func ValidName[T string | []byte](name T) bool {
	for i := 0; i < len(name); i++ {
		if !tokenByte[name[i]] {
			return false
		}
	}
	return len(name) > 0
}

// ValidValue reports whether value has only bytes that a field value may have (RFC
// 9110 section 5.5): no control byte except the tab.
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

// mayHoldControl returns false only if none of the eight bytes is a control byte. It tests the highest
// bit of each byte. Subtracting 0x20 sets that bit in a byte below 0x20. The exclusive or turns 0x7f
// into 0, and subtracting 1 sets the bit there. Bytes that had the bit set before do not count. A
// borrow from the byte below can only cause a false alarm.
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
