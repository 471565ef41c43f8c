package routing

import "slices"

// TakesPath reports whether m is for this decoded path.
func (m *Match) TakesPath(path []byte) bool {
	return (len(m.Paths) == 0 || isAnyOf(path, m.Paths)) && (len(m.PathSuffixes) == 0 || endsInAny(path, m.PathSuffixes)) && beginsWithAny(path, m.PathPrefixes)
}

// TakesEveryPath reports whether m is for every path.
func (m *Match) TakesEveryPath() bool {
	return len(m.Paths)+len(m.PathSuffixes) == 0 && slices.Contains(m.PathPrefixes, "/")
}

func isAnyOf(path []byte, all []string) bool {
	return slices.ContainsFunc(all, func(p string) bool { return string(path) == p }) // Contains would copy path
}

func endsInAny(path []byte, suffixes []string) bool {
	for _, s := range suffixes {
		if len(path) >= len(s) && string(path[len(path)-len(s):]) == s {
			return true
		}
	}
	return false
}

func beginsWithAny(path []byte, prefixes []string) bool {
	for _, p := range prefixes {
		if beginsWith(path, p) {
			return true
		}
	}
	return false
}

// beginsWith reports whether path has these whole segments, prefix, first.
func beginsWith(path []byte, prefix string) bool {
	if len(path) < len(prefix) || string(path[:len(prefix)]) != prefix {
		// "OPTIONS *" asks about the server as a whole.
		return prefix == "/" && string(path) == "*"
	}
	return len(path) == len(prefix) || prefix[len(prefix)-1] == '/' || path[len(prefix)] == '/'
}
