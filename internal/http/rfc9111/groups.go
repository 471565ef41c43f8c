package rfc9111

import (
	"slices"

	"github.com/dunglas/httpsfv"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/method"
)

// Groups returns the groups that a response belongs to by Cache-Groups (RFC 9875
// section 2), sorted, each once; nil if there are none. Groups are compared byte by
// byte, and only with those of the same origin. A field that is not a list of
// strings, or that exceeds the limits for structured fields, counts as absent. The
// strings are copies.
func Groups(h field.List) []string { return stringList(h, "Cache-Groups") }

// InvalidatedGroups returns the groups that a response to a request of this method
// invalidates by Cache-Group-Invalidation (RFC 9875 section 3), sorted, each once;
// nil for a safe method.
func InvalidatedGroups(name string, h field.List) []string {
	if method.Safe(name) {
		return nil
	}
	return stringList(h, "Cache-Group-Invalidation")
}

func stringList(h field.List, name string) []string {
	lines, ok := structuredLines(h, name)
	if !ok {
		return nil
	}
	members, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil
	}
	var out []string
	for _, m := range members {
		item, _ := m.(httpsfv.Item)
		s, ok := item.Value.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
