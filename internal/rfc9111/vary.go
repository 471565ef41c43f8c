package rfc9111

import (
	"slices"

	"edgeproxy/internal/field"
)

// maxVaryNames limits the fields in Vary: each costs every hit a look-up and a part
// of the key.
const maxVaryNames = 64

// VaryNames returns the names in all Vary lines of h: canonical, sorted, each
// once; nil if there are none. They may share the strings of h.
//
// Star says that the stored response matches no request: a member is "*" (RFC 9111
// section 4.1) or no field name, or there are more than 64 names. The names are nil
// then.
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
