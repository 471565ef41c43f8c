package purge

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/field"
)

const (
	// AnyTag among the tags of a response says that it has too many to keep. It is
	// purged with every tag.
	AnyTag uint64 = 0
	// MaxTags is how many tags of a response are kept, 8 bytes each.
	MaxTags = 256
)

// HashTag returns the tag called name, for Tag and AppendTag. Names are compared
// byte for byte. It is never AnyTag. The seed is this Table's own: another one has other
// hashes, but for one that was opened with the same file.
func (t *Table) HashTag(name string) uint64 { return max(1, xxh3.HashStringSeed(name, t.seed)) }

// HashGroup returns the tag for a cache group, which belongs to one origin, that
// is scheme and host, port included (RFC 9875 section 2). It differs from the
// tag of the same name. To have a purge of that tag reach the members of the group too,
// append both.
func (t *Table) HashGroup(scheme string, host []byte, group string) uint64 {
	site := t.site(scheme, t.hash(host))
	return max(1, bits.RotateLeft64(site, 32)^xxh3.HashStringSeed(group, t.seed))
}

// AppendTag adds tag to the tags of one response, each once. Beyond MaxTags they
// become AnyTag alone, so that none of them is missed.
func AppendTag(tags []uint64, tag uint64) []uint64 {
	switch {
	case len(tags) == 1 && tags[0] == AnyTag, slices.Contains(tags, tag):
		return tags
	case len(tags) >= MaxTags:
		return append(tags[:0], AnyTag)
	}
	return append(tags, tag)
}

// AppendTags adds the tags in a response's Surrogate-Key and Cache-Tag fields to
// tags, as AppendTag does. The first is a list with spaces, the second one with
// commas; neither has a standard.
func (t *Table) AppendTags(tags []uint64, h field.List) []uint64 {
	for i := range h {
		switch h[i].Name {
		case "Surrogate-Key":
			for name := range strings.FieldsFuncSeq(h[i].Value, blank) {
				tags = AppendTag(tags, t.HashTag(name))
			}
		case "Cache-Tag":
			for name := range strings.SplitSeq(h[i].Value, ",") {
				if name = strings.Trim(name, " \t"); name != "" {
					tags = AppendTag(tags, t.HashTag(name))
				}
			}
		}
	}
	return tags
}

func blank(r rune) bool { return r == ' ' || r == '\t' }

// tagState returns what the marks for tags make of a response born then.
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
