package purge

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/http/field"
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

// TagFields are fields of responses that list tags. None has a standard. The zero value has no field. TagFields may be used
// concurrently.
type TagFields struct {
	fields []tagField
	shapes uint64 // shapes of all names; most fields of responses have another one, and are not compared
}

type tagField struct {
	name       string // canonical
	separators string // the characters between two tags
}

// NewTagFields returns the fields of these names, in any case, with the separators that the programs that send them use. In a field
// that no program is known for, commas and white space separate tags.
func NewTagFields(names ...string) TagFields {
	var f TagFields
	for _, name := range names {
		name = field.Canonical(name)
		f.fields = append(f.fields, tagField{name, separatorsOf(name)})
		f.shapes |= shape(name)
	}
	return f
}

func separatorsOf(name string) string {
	switch name {
	case "Surrogate-Key":
		return " \t"
	case "Cache-Tag", "X-Magento-Tags", "X-Cache-Tags", "X-Amz-Meta-Cache-Tag":
		return ","
	}
	return ", \t"
}

// shape returns one of 64 bits, by the length and the first character of the name.
func shape(name string) uint64 {
	if name == "" {
		return 0
	}
	return 1 << ((uint(len(name))*5 + uint(name[0])) % 64)
}

// Has reports whether the field of this canonical name lists tags.
func (f TagFields) Has(name string) bool { return f.index(name) >= 0 }

func (f TagFields) index(name string) int {
	if f.shapes&shape(name) == 0 {
		return -1
	}
	return slices.IndexFunc(f.fields, func(t tagField) bool { return t.name == name })
}

// AppendTags adds the tags in the fields of a response to tags, as AppendTag does.
func (t *Table) AppendTags(tags []uint64, h field.List, fields TagFields) []uint64 {
	for i := range h {
		at := fields.index(h[i].Name)
		if at < 0 {
			continue
		}
		separates := func(r rune) bool { return strings.ContainsRune(fields.fields[at].separators, r) }
		for name := range strings.FieldsFuncSeq(h[i].Value, separates) {
			if name = strings.Trim(name, " \t"); name != "" {
				tags = t.appendNamed(tags, name)
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

// hostTag is the hash of a tag of a host. That of AnyTag stands for every tag of the host.
func hostTag(host, tag uint64) uint64 { return bits.RotateLeft64(host, 17) ^ tag }

// hostTagState returns the state of a response of a host, born then, by the marks for tags of this host.
func (t *Table) hostTagState(born, host uint64, tags []uint64) State {
	s := Valid
	for _, tag := range tags {
		if s = max(s, t.hostTags.state(born, hostTag(host, tag))); s == Gone {
			break
		}
	}
	return s
}
