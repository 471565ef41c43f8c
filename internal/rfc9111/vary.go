package rfc9111

import (
	"slices"

	"edgeproxy/internal/field"
)

// maxVaryNames bounds the fields that select a response: each costs every hit a
// look-up and a part of the key.
const maxVaryNames = 64

// VaryNames returns the names in all Vary lines of h: canonical, sorted, each
// once; nil if there are none. They may share the strings of h.
//
// Star says that no stored response may be selected: a member is "*" (RFC 9111
// section 4.1), or cannot be read as a name, or the names are more than 64. The
// names are nil then.
func VaryNames(h field.List) (names []string, star bool) {
	for i := range h {
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
