package field

import "strings"

// Protocols splits the value of an Upgrade field into the protocols that it lists,
// each a NAME or NAME/VERSION (RFC 9110 section 7.8). It reports false for anything
// else, also for an empty member: a proxy that switches protocols must be sure of which.
func Protocols(value string) ([]string, bool) {
	var list []string
	for member := range strings.SplitSeq(value, ",") {
		member = strings.Trim(member, " \t")
		name, version, versioned := strings.Cut(member, "/")
		if !ValidName(name) || versioned && !ValidName(version) {
			return nil, false
		}
		list = append(list, member)
	}
	return list, true
}
