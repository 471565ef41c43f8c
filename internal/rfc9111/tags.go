package rfc9111

import (
	"slices"

	"edgeproxy/internal/field"
)

// maxTags bounds the tags of a response: each is a place in an index.
const maxTags = 1024

// Tags returns the tags by which a response may be purged, sorted, each once; nil
// if there are none. Surrogate-Key holds them between spaces, Cache-Tag between
// commas; these are conventions of content delivery networks, and no standard. Tags
// are compared byte by byte. They share the strings of h.
//
// Ok is false if there are more than 1024: the response could not be purged by all
// of them, and should not be stored.
func Tags(h field.List) (tags []string, ok bool) {
	for i := range h {
		var cut func(string) (string, string)
		switch h[i].Name {
		case "Surrogate-Key":
			cut = cutWord
		case "Cache-Tag":
			cut = cutMember[string]
		default:
			continue
		}
		for tag, rest := "", h[i].Value; len(rest) > 0; {
			if tag, rest = cut(rest); tag == "" {
				continue
			}
			if len(tags) == maxTags {
				return nil, false
			}
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags), true
}

// cutWord cuts the first word, which may be empty, off a list between white space.
func cutWord(list string) (word, rest string) {
	i := 0
	for i < len(list) && !isSpace(list[i]) {
		i++
	}
	return list[:i], list[min(i+1, len(list)):]
}
