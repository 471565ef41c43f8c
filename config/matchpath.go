package config

import (
	"slices"
	"strings"

	"edgeproxy/internal/route/routing"
)

// Errors for values of another kind.
const (
	wantPaths    = `must be a path, a list of them, or "" for any`
	wantPrefixes = "must be the beginning of a path, or a list of beginnings"
	wantSuffixes = `must be the ending of a path, a list of endings, or "" for any`
)

// matchPaths checks the conditions on a path, and that some request can match each of them.
func (v *validator) matchPaths(path string, m *routing.Match) {
	whole, prefix, suffix := child(path, "path"), child(path, "path_prefix"), child(path, "path_suffix")
	if len(m.PathPrefixes) == 0 && !v.src.isList(prefix) {
		v.matchPath(prefix, "")
	}
	v.matchAnyOf(whole, "path", m.Paths, v.matchPath)
	v.matchAnyOf(prefix, "prefix", m.PathPrefixes, v.matchPath)
	v.matchAnyOf(suffix, "suffix", m.PathSuffixes, v.matchSuffix)
	if len(m.Paths) == 0 {
		return
	}
	beside := "the path beside it"
	if len(m.Paths) > 1 {
		beside = "one of the paths beside it"
	}
	ofPrefix, ofSuffix := v.noErrorAt(whole, prefix), v.noErrorAt(whole, suffix)
	if ofPrefix {
		v.matchBeside(prefix, m.PathPrefixes, "a prefix of "+beside, func(prefix string) bool {
			return slices.ContainsFunc(m.Paths, func(p string) bool { return routing.BeginsWith(p, prefix) })
		})
	}
	if ofSuffix {
		v.matchBeside(suffix, m.PathSuffixes, "an ending of "+beside, func(suffix string) bool {
			return slices.ContainsFunc(m.Paths, func(p string) bool { return strings.HasSuffix(p, suffix) })
		})
	}
	if v.noErrorAt(prefix) && ofPrefix {
		v.matchBeside(whole, m.Paths, "a path that begins with path_prefix beside it", m.BeginsPath)
	}
	if v.noErrorAt(suffix) && ofSuffix {
		v.matchBeside(whole, m.Paths, "a path that ends in path_suffix beside it", m.EndsPath)
	}
}

// matchAnyOf checks a list of alternatives.
func (v *validator) matchAnyOf(path, what string, values []string, check func(at, value string)) {
	if len(values) == 0 && v.src.isList(path) && v.noErrorAt(path) {
		v.fail(path, "must be at least one "+what+", or remove the key")
	}
	for i, value := range values {
		at := v.src.elementPath(path, i)
		check(at, value)
		if v.noErrorAt(at) && slices.Contains(values[:i], value) {
			v.fail(at, "each "+what+" must be listed once")
		}
	}
}

// matchBeside checks that each of the values at path can match together with the conditions beside it.
func (v *validator) matchBeside(path string, values []string, want string, fits func(string) bool) {
	for i, value := range values {
		at, less := v.src.elementPath(path, i), "element"
		if at == path {
			less = "key"
		}
		if v.noErrorAt(at) && !fits(value) {
			v.fail(at, "must be "+want+", or remove this "+less+": no request matches both")
		}
	}
}

// matchPath checks a path, or its beginning. Paths are matched decoded, with dot segments resolved
// and slashes merged.
func (v *validator) matchPath(at, path string) {
	switch {
	case !v.noErrorAt(at):
	case !strings.HasPrefix(path, "/"):
		v.fail(at, "must be a path that begins with /")
	default:
		v.matchDecoded(at, path)
	}
}

func (v *validator) matchSuffix(at, suffix string) {
	switch {
	case !v.noErrorAt(at):
	case suffix == "":
		v.fail(at, "must be the ending of a path, such as .jpg, or remove this element")
	default:
		v.matchDecoded(at, suffix)
	}
}

// matchDecoded checks a part of a path.
func (v *validator) matchDecoded(at, part string) {
	segments := strings.Split(part, "/")[1:] // the first is empty in a path, and may be an incomplete segment in a suffix
	dots := slices.ContainsFunc(segments, func(s string) bool { return s == "." || s == ".." })
	switch {
	case strings.ContainsAny(part, "?#%"):
		v.fail(at, "must be a decoded path, without query, fragment or %-encoding: that is what is matched")
	case dots:
		v.fail(at, "must be a path without dot segments: they are resolved before it is matched")
	case strings.Contains(part, "//"):
		v.fail(at, "must be a path without //: repeated slashes are merged before it is matched")
	}
}
