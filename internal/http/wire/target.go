package wire

import (
	"bytes"
	"errors"

	"edgeproxy/internal/http/field"
)

// Errors of ParseTarget.
var (
	ErrTarget      = errors.New("malformed request target")
	ErrScheme      = errors.New("scheme of the request target is not this listener's")
	ErrTargetForm  = errors.New("request target form not allowed for this method")
	ErrTargetBytes = errors.New("request target holds a byte that no URI may have")
)

// Target is a parsed request target (RFC 9112 section 3.2). Its slices share the
// bytes and the room given to ParseTarget.
type Target struct {
	// Authority is the host of an absolute-form target, which replaces the Host
	// field; nil for the other forms.
	Authority []byte
	// Raw is the path and query as received. It is "*" for the asterisk-form and
	// never empty.
	Raw []byte
	// Normal is Raw in its normal form, which all spellings of a resource share: see
	// AppendNormal. It is in the key, and the origin gets it where a cache may answer.
	Normal []byte
	// Path is Normal up to the first question mark.
	Path []byte
	// Ambiguous says that an origin may take Path for another resource than its
	// bytes name: it has an encoded slash, backslash or NUL, a dot segment (encoded
	// or not), or an empty segment.
	Ambiguous bool
}

// Query returns the part of Normal after its first question mark, nil if it has none.
func (t *Target) Query() []byte {
	if len(t.Path) < len(t.Normal) {
		return t.Normal[len(t.Path)+1:]
	}
	return nil
}

var (
	slash    = []byte("/")
	asterisk = []byte("*")
)

// ParseTarget parses the raw request target. scheme is the listener's ("http"
// or "https"), options whether the method is OPTIONS, the only one that may use
// the asterisk-form. Control bytes, spaces, backslashes and fragments are
// refused. The normal form is written to room, where it may differ from raw; with
// enough room ParseTarget allocates nothing.
func ParseTarget(raw []byte, scheme string, options bool, room *[]byte) (Target, error) {
	kinds := kindsOf(raw)
	switch {
	case len(raw) == 0:
		return Target{}, ErrTarget
	case kinds&noURI != 0:
		return Target{}, ErrTargetBytes
	case raw[0] == '/':
		return split(raw, nil, kinds, room), nil
	case bytes.Equal(raw, asterisk):
		if !options {
			return Target{}, ErrTargetForm
		}
		return Target{Raw: raw, Normal: raw, Path: raw}, nil
	}
	root := slash
	if options {
		root = asterisk // RFC 9112 section 3.2.4
	}
	target, authority, err := cutAbsolute(raw, scheme, root)
	if err != nil {
		return Target{}, err
	}
	return split(target, authority, kinds, room), nil
}

// Kinds of bytes of a request target.
const (
	noURI   = 1 << iota // control bytes, space, backslash, fragment
	spelled             // a percent sign, and what has to be encoded: another spelling may mean the same
)

var byteKinds = func() (kinds [256]byte) {
	for c := range kinds {
		switch {
		case c <= ' ', c == 0x7f, c == '#', c == '\\':
			kinds[c] = noURI
		case c == '%', c > 0x7f:
			kinds[c] = spelled
		}
	}
	return kinds
}()

// kindsOf returns the kinds of all bytes of b.
func kindsOf(b []byte) (kinds byte) {
	for _, c := range b {
		kinds |= byteKinds[c]
	}
	return kinds
}

// cutAbsolute cuts scheme "://" authority [ path ] [ "?" query ]; root is the
// target if path and query are empty.
func cutAbsolute(raw []byte, scheme string, root []byte) (target, authority []byte, err error) {
	i := bytes.Index(raw, []byte("://"))
	if i < 1 {
		return nil, nil, ErrTarget
	}
	if !equalFoldASCII(raw[:i], scheme) {
		return nil, nil, ErrScheme
	}
	rest := raw[i+3:]
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return nil, nil, ErrTarget
	}
	authority, target = rest[:end:end], rest[end:]
	if len(target) == 0 {
		target = root
	}
	if target[0] == '?' {
		// "http://h?q" means "/?q" (RFC 9110 section 4.2.3), which is not a part of
		// raw. No honest client sends it.
		return nil, nil, ErrTarget
	}
	return target, authority, nil
}

// split makes a Target of raw, whose bytes are of these kinds.
func split(raw, authority []byte, kinds byte, room *[]byte) Target {
	normal := raw
	if kinds&spelled != 0 {
		*room = AppendNormal((*room)[:0], raw)
		normal = *room
	}
	path, _, _ := bytes.Cut(normal, []byte("?"))
	return Target{Authority: authority, Raw: raw, Normal: normal, Path: path, Ambiguous: ambiguous(path)}
}

// ambiguous computes Target.Ambiguous. A usual path has no percent sign, no double
// slash and no dot after a slash, and costs one test of each byte.
func ambiguous(path []byte) bool {
	for i := range path {
		switch path[i] {
		case '%':
			if i+2 < len(path) {
				switch Unhex(path[i+1])<<4 | Unhex(path[i+2]) {
				case '/', '\\', 0:
					return true
				}
			}
		case '/':
			if i+1 < len(path) && (path[i+1] == '/' || dotSegment(path[i+1:])) {
				return true
			}
		}
	}
	return false
}

// dotSegment reports whether p begins with a segment that is "." or "..", each
// dot plain or percent-encoded.
func dotSegment(p []byte) bool {
	dots := 0
	for len(p) > 0 && p[0] != '/' {
		switch {
		case p[0] == '.':
			p = p[1:]
		case len(p) >= 3 && p[0] == '%' && p[1] == '2' && p[2]|0x20 == 'e':
			p = p[3:]
		default:
			return false
		}
		dots++
	}
	return dots == 1 || dots == 2
}

// Unhex returns the value of a hexadecimal digit; 0xff for any other byte, which
// cannot be part of '/', '\\' or NUL.
func Unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}

func equalFoldASCII(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// ValidMethod reports whether m is a method this proxy forwards: a token (RFC 9110
// section 9.1) without lower-case letters. Methods are case-sensitive, and an
// origin and a cache in front of it may read "get" differently.
func ValidMethod(m []byte) bool {
	for _, c := range m {
		if 'a' <= c && c <= 'z' {
			return false
		}
	}
	return field.ValidName(m)
}
