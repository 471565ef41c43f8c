package config

import (
	"maps"
	"strconv"
	"strings"
)

// source says where the values of a Config were given, so that later errors name
// the place too.
type source struct {
	file    string
	places  places          // defaults have none
	flagged map[string]bool // paths of sections in which a flag has set a value; they may have no place
}

// place is where one key was given: in the file, or by a flag.
type place struct {
	line, column int
	flag         string // such as --listen; "" is the file
	text         string // the value as written; "" for a section or a list
	scalar       bool   // text is a value
}

func newSource(file string) source {
	return source{file: file, places: places{}, flagged: map[string]bool{}}
}

func (s *source) clone() source {
	return source{file: s.file, places: s.places.clone(), flagged: maps.Clone(s.flagged)}
}

// given reports whether path was given, in the file or by a flag.
func (s *source) given(path string) bool {
	_, ok := s.places.at(path)
	return ok
}

// hasWithin reports whether the section at path was given, or a value in it.
func (s *source) hasWithin(path string) bool { return s.given(path) || s.flagged[path] }

// inFile reports whether path was given in the file.
func (s *source) inFile(path string) bool {
	p, ok := s.places.at(path)
	return ok && p.flag == ""
}

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
