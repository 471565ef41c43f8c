package field

import "strings"

// Protocols returns the protocols that the value of an Upgrade field lists, each NAME or
// NAME/VERSION (RFC 9110 section 7.8). It returns false for anything else, also for an
// empty member: a proxy must know exactly to which protocol it switches.
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
