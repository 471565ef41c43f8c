package purge

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/field"
)

const (
	// AnyTag among the tags of a response says that it has too many to store. Every purge of a tag purges it.
	AnyTag uint64 = 0
	// MaxTags is how many tags of a response are stored, 8 bytes each.
	MaxTags = 256
)

// HashTag returns the tag called name, for Tag and AppendTag. Names are compared byte for byte. It never returns AnyTag. The
// seed belongs to this Table: another Table has other hashes, unless it was opened with the same file.
func (t *Table) HashTag(name string) uint64 { return max(1, xxh3.HashStringSeed(name, t.seed)) }

// HashGroup returns the tag for a cache group. A group belongs to one origin: scheme and host, port included (RFC 9875
// section 2). The tag differs from the plain tag of the same name. For a purge of that tag to reach the members of the group
// too, append both.
func (t *Table) HashGroup(scheme string, host []byte, group string) uint64 {
	site := t.site(scheme, t.hash(host))
	return max(1, bits.RotateLeft64(site, 32)^xxh3.HashStringSeed(group, t.seed))
}

// AppendTag adds tag to the tags of one response, each once. More than MaxTags become AnyTag alone, so that none is missed.
func AppendTag(tags []uint64, tag uint64) []uint64 {
	switch {
	case len(tags) == 1 && tags[0] == AnyTag, slices.Contains(tags, tag):
		return tags
	case len(tags) >= MaxTags:
		return append(tags[:0], AnyTag)
	}
	return append(tags, tag)
}

// AppendTags adds the tags in a response's Surrogate-Key and Cache-Tag fields to tags, as AppendTag does. The first is a
// space-separated list, the second a comma-separated one; neither has a standard.
func (t *Table) AppendTags(tags []uint64, h field.List) []uint64 {
	for i := range h {
		switch h[i].Name {
		case "Surrogate-Key":
			for name := range strings.FieldsFuncSeq(h[i].Value, blank) {
				tags = t.appendNamed(tags, name)
			}
		case "Cache-Tag":
			for name := range strings.SplitSeq(h[i].Value, ",") {
				if name = strings.Trim(name, " \t"); name != "" {
					tags = t.appendNamed(tags, name)
				}
			}
		}
	}
	return tags
}

// AppendGroup adds the tags of a cache group as AppendTag does: the one of HashGroup, and that of the same name, for operators.
func (t *Table) AppendGroup(tags []uint64, scheme string, host []byte, group string) []uint64 {
	return AppendTag(t.appendNamed(tags, group), t.HashGroup(scheme, host, group))
}

// appendNamed adds the tag called name, and remembers the name.
func (t *Table) appendNamed(tags []uint64, name string) []uint64 {
	tag := t.HashTag(name)
	t.names.remember(tag, name)
	return AppendTag(tags, tag)
}

func blank(r rune) bool { return r == ' ' || r == '\t' }

// tagState returns the state of a response born then by the marks for tags.
func (t *Table) tagState(born uint64, tags []uint64) State {
	s := Valid
	for _, tag := range tags {
		if tag == AnyTag {
			return t.tags.newest.load().state(born)
		}
		if s = max(s, t.tags.state(born, tag)); s == Gone {
			break
		}
	}
	return s
}
