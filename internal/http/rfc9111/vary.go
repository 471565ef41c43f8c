package rfc9111

import (
	"slices"

	"edgeproxy/internal/http/field"
)

// maxVaryNames limits the fields in Vary: each costs every hit a look-up and a part
// of the key.
const maxVaryNames = 64

// VaryNames returns the names in all Vary lines of h: canonical, sorted, each
// once; nil if there are none. They may share the strings of h.
//
// A response whose content is compressed with a dictionary of the client (dcb and dcz, RFC 9842) is for those clients alone that
// name this dictionary: the names always include those fields by which it was selected, whatever Vary says.
//
// Star says that the stored response matches no request: a member is "*" (RFC 9111
// section 4.1) or no field name, or there are more than 64 names. The names are nil
// then.
func VaryNames(h field.List) (names []string, star bool) {
	for i := range h {
		if h[i].Name == "Content-Encoding" && usesDictionary(h[i].Value) {
			names = appendMissing(names, "Accept-Encoding", "Available-Dictionary")
		}
		if h[i].Name != "Vary" {
			continue
		}
		for member, list := "", h[i].Value; len(list) > 0; {
			if member, list = cutMember(list); member == "" {
				continue
			}
			if member == "*" || !field.ValidName(member) {
				return nil, true
			}
			if name := field.Canonical(member); !slices.Contains(names, name) {
				names = append(names, name)
			}
			if len(names) > maxVaryNames {
				return nil, true
			}
		}
	}
	slices.Sort(names)
	return names, false
}

// usesDictionary reports whether one of the codings of a Content-Encoding needs a dictionary.
func usesDictionary(contentEncoding string) bool {
	for coding, rest := "", contentEncoding; len(rest) > 0; {
		if coding, rest = cutMember(rest); codingOf(coding)&codingDictionary != 0 {
			return true
		}
	}
	return false
}

// appendMissing appends those of more that names does not have.
func appendMissing(names []string, more ...string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
