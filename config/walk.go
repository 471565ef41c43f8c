package config

import (
	"regexp"
	"strings"
)

// walkNames calls f for every setting of the format, with its path as documents write it:
// routes[].match.hosts, origins.*.servers[].url.
func (t table) walkNames(path string, f func(path string, s row)) {
	for _, s := range t {
		if !s.isDocumented() {
			continue
		}
		at := child(path, s.name)
		f(at, s)
		switch v := s.value.(type) {
		case *group:
			v.settings().walkNames(at, f)
		case *originSections:
			v.sample().walkNames(at+".*", f)
		case collection:
			v.sample().walkNames(at+"[]", f)
		}
	}
}

// walk calls f for every setting of this configuration, with its path in the file.
func (t table) walk(path string, f func(path string, s row)) {
	for _, s := range t {
		if !s.isDocumented() {
			continue
		}
		at := child(path, s.name)
		f(at, s)
		switch v := s.value.(type) {
		case *group:
			v.settings().walk(at, f)
		case collection:
			for _, e := range v.elements(at) {
				e.settings().walk(e.path, f)
			}
		}
	}
}

var (
	indexes = regexp.MustCompile(`\[[0-9]+\]`)
	origins = regexp.MustCompile(`^origins(\.[^.\[]+|\["[^"]*"\])`)
)

// pathPattern returns the path of a setting as walkNames has it. That of a route within another is that of any.
func pathPattern(path string) string {
	return strings.Replace(origins.ReplaceAllString(indexes.ReplaceAllString(path, "[]"), "origins.*"), "routes[].routes[]", "routes[]", 1)
}
