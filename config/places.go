package config

import (
	"iter"
	"maps"
	"strings"
)

// places is where settings were given, by path: first by the path of a section at the top, of an origin or of a route, then by the rest.
// In one map for all, each look-up in a file of thousands of routes would miss the processor's caches.
type places map[string]map[string]place

// splitPath divides a path behind its second part: routes[3] and .match.hosts, origins.app and .servers.
func splitPath(path string) (section, rest string) {
	first := strings.IndexAny(path, ".[")
	if first < 0 {
		return path, ""
	}
	second := -1
	if strings.HasPrefix(path[first:], `["`) { // a quoted name may have dots
		if end := strings.Index(path[first:], `"]`); end >= 0 {
			second = end + 1
		}
	} else {
		second = strings.IndexAny(path[first+1:], ".[")
	}
	if second < 0 {
		return path, ""
	}
	return path[:first+1+second], path[first+1+second:]
}

// at returns the place of path, and whether it was given.
func (p places) at(path string) (place, bool) {
	section, rest := splitPath(path)
	at, ok := p[section][rest]
	return at, ok
}

func (p places) set(path string, at place) {
	section, rest := splitPath(path)
	if p[section] == nil {
		p[section] = map[string]place{}
	}
	p[section][rest] = at
}

// all returns each path with its place, in no order.
func (p places) all() iter.Seq2[string, place] {
	return func(yield func(string, place) bool) {
		for section, of := range p {
			for rest, at := range of {
				if !yield(section+rest, at) {
					return
				}
			}
		}
	}
}

// forget removes what was given at path or below it.
func (p places) forget(path string) {
	for section, of := range p {
		maps.DeleteFunc(of, func(rest string, _ place) bool { return within(section+rest, path) })
	}
}

func (p places) clone() places {
	out := make(places, len(p))
	for section, of := range p {
		out[section] = maps.Clone(of)
	}
	return out
}
