package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// source says where the values of a Config were given, so that later errors name
// the place too.
type source struct {
	file     string
	places   places          // defaults have none
	flagged  map[string]bool // paths of sections in which a flag has set a value; they may have no place
	included []Included      // in the order in which they were read
	notices  []Warning       // warnings of files that were included

	setAround map[string]bool // paths of names in a route that the route around it sets as well
}

// place is where one key was given: in the file, or by a flag.
type place struct {
	file         string // the included file; "" is the file itself
	line, column int
	flag         string // such as --listen; "" is the file
	text         string // the value as written; "" for a section or a list
	scalar       bool   // text is a value
}

func newSource(file string) source {
	return source{file: file, places: places{}, flagged: map[string]bool{}, setAround: map[string]bool{}}
}

func (s *source) clone() source {
	out := *s
	out.places, out.flagged = s.places.clone(), maps.Clone(s.flagged)
	return out
}

// fileOf returns the name of the file of a place.
func (s *source) fileOf(p place) string { return cmp.Or(p.file, s.file) }

// text returns a place in the form that errors have.
func (s *source) text(p place) string { return line(s.fileOf(p), p.line, p.column) }

// order returns the rank of a file in reports: that of the command line is first, then the file itself, then what it includes.
func (s *source) order(file string) int {
	switch file {
	case "":
		return -1
	case s.file:
		return 0
	}
	return 1 + slices.IndexFunc(s.included, func(i Included) bool { return i.File == file })
}

// given reports whether path was given, in the file or by a flag.
func (s *source) given(path string) bool {
	_, ok := s.places.at(path)
	return ok
}

// hasWithin reports whether the section at path was given, or a value in it.
func (s *source) hasWithin(path string) bool { return s.given(path) || s.flagged[path] }

// locate returns the place of path, or of the nearest section around it that has
// one, or the head of the file.
func (s *source) locate(path string) (p place, exact bool) {
	for at := path; ; at = parent(at) {
		if p, ok := s.places.at(at); ok {
			return p, at == path
		}
		switch {
		case at != "":
		case s.file == "":
			return place{}, false
		default:
			return place{line: 1, column: 1}, false
		}
	}
}

// child returns the path of a key in the section at path. A key with other characters
// than letters, digits, _ and - is quoted, so that different paths are different texts.
func child(path, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	switch {
	case !plain:
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// item returns the path of the i-th value, from 0, of the list at path.
func item(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// parent returns the path of the section or list that path is in, "" for the
// whole file. For a quoted key with a point it may return a path that does not
// exist; the parents of that are right again.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// within reports whether path is section, a section or list, or below it.
func within(path, section string) bool {
	rest, ok := strings.CutPrefix(path, section)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
