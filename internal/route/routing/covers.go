package routing

import (
	"slices"
	"strings"
)

// Covers reports whether m matches every request that o matches. It says no where it is not sure.
func (m *Match) Covers(o *Match) bool { return m.coversPath(o) && m.CoversBesidePath(o) }

// CoversBesidePath is Covers for all conditions but those on the path.
func (m *Match) CoversBesidePath(o *Match) bool {
	for _, want := range o.Hosts {
		if !slices.ContainsFunc(m.Hosts, func(have Host) bool { return have.covers(want) }) {
			return false
		}
	}
	return m.Scheme.covers(o.Scheme) && m.coversMethods(o) && coversValues(m.Query, o.Query, func(a, b string) bool { return a == b }) &&
		coversValues(m.Fields, o.Fields, strings.EqualFold)
}

// Meets reports whether one request may match the hosts, the scheme and the methods of both m and o.
func (m *Match) Meets(o *Match) bool {
	if len(m.Methods) > 0 && len(o.Methods) > 0 && !slices.ContainsFunc(m.Methods, func(method string) bool { return slices.Contains(o.Methods, method) }) {
		return false
	}
	return (m.Scheme.covers(o.Scheme) || o.Scheme == AnyScheme) && slices.ContainsFunc(m.Hosts, func(a Host) bool {
		return slices.ContainsFunc(o.Hosts, func(b Host) bool { return a.covers(b) || b.covers(a) })
	})
}

func (s Scheme) covers(o Scheme) bool { return s == AnyScheme || s == o }

func (m *Match) coversMethods(o *Match) bool {
	if len(m.Methods) == 0 {
		return true
	}
	return len(o.Methods) > 0 && !slices.ContainsFunc(o.Methods, func(method string) bool {
		return !slices.Contains(m.Methods, method) && (method != "HEAD" || !slices.Contains(m.Methods, "GET"))
	})
}

// coversValues reports whether each of the conditions have is among those of want, or is for any value of a name in it. same compares names.
func coversValues(have, want []ValueMatch, same func(a, b string) bool) bool {
	for i := range have {
		h := &have[i]
		if !slices.ContainsFunc(want, func(w ValueMatch) bool { return same(h.Name, w.Name) && (h.Any() || h.String() == w.String()) }) {
			return false
		}
	}
	return true
}

func (h Host) covers(o Host) bool {
	if h.Port != 0 && h.Port != o.Port {
		return false
	}
	if h.Name == "" {
		return true
	}
	if h.Subdomains && strings.HasSuffix(o.Name, "."+h.Name) {
		return true
	}
	return h.Name == o.Name && h.Subdomains == o.Subdomains
}

// BeginsPath reports whether path begins with a prefix of m.
func (m *Match) BeginsPath(path string) bool { return beginsWithAny([]byte(path), m.PathPrefixes) }

// EndsPath reports whether path ends in a suffix of m, if it has any.
func (m *Match) EndsPath(path string) bool {
	return len(m.PathSuffixes) == 0 || endsInAny([]byte(path), m.PathSuffixes)
}

// BeginsWith reports whether path has these whole segments, prefix, first.
func BeginsWith(path, prefix string) bool { return beginsWith([]byte(path), prefix) }

// Within reports whether all matches every host that h matches.
func (h Host) Within(all Host) bool {
	switch {
	case all.Port != 0 && all.Port != h.Port:
		return false
	case all.Subdomains:
		return strings.HasSuffix(h.Name, "."+all.Name) || h.Subdomains && h.Name == all.Name
	}
	return !h.Subdomains && h.Name == all.Name
}

// coversPath reports whether m matches each path that o matches: its paths, or each prefix with each suffix.
func (m *Match) coversPath(o *Match) bool {
	if len(o.Paths) > 0 {
		return !slices.ContainsFunc(o.Paths, func(p string) bool { return !m.TakesPath([]byte(p)) })
	}
	suffixes := o.PathSuffixes
	if len(suffixes) == 0 {
		suffixes = []string{""}
	}
	return len(m.Paths) == 0 && !slices.ContainsFunc(o.PathPrefixes, func(prefix string) bool {
		return slices.ContainsFunc(suffixes, func(suffix string) bool { return !m.coversBetween(prefix, suffix) })
	})
}

// coversBetween reports whether m, which has no Paths, matches every path that begins with prefix and ends in suffix.
// Anything may stand between the two, so m needs a prefix of prefix and a suffix of suffix. If prefix itself ends in
// suffix, m must match it too; otherwise only the paths below it count.
func (m *Match) coversBetween(prefix, suffix string) bool {
	if strings.HasSuffix(prefix, suffix) && !m.TakesPath([]byte(prefix)) {
		return false
	}
	return m.BeginsPath(strings.TrimSuffix(prefix, "/")+"/") && m.EndsPath(suffix)
}
