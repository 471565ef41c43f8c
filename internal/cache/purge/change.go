package purge

import (
	"encoding/binary"
	"errors"
)

// kind is the kind of a change.
type kind byte

// The kinds, as they stand in the file.
const (
	changeAll kind = iota + 1
	changeTag
	changeURL
	changeHost
	changePrefix
	changePrefixHost // the folded prefixes of a host
	changeHostTag
)

// floorBit, added to a kind of marks, says that the change is for the floor of a bucket.
const floorBit = 0x80

// change is a mark and its subject. A purge is one or more changes, and a table is the sum of its changes.
type change struct {
	kind kind
	hash uint64 // hash of a tag, a tag of a host, a URL or a host; the site of a prefix; the index of a floor's bucket
	host uint64 // host of a prefix; for a floor the number of buckets
	text []byte // text of a prefix
	mark
}

// apply raises the mark of c's subject. Only the one writer may call it.
func (t *Table) apply(c change) {
	switch c.kind {
	case changeAll:
		t.all.raise(c.mark)
	case changePrefix:
		t.fold(t.prefixes.raise(c.hash, c.host, c.text, c.mark))
	default:
		if c.kind&^floorBit == changePrefixHost {
			t.prefixes.newest.raise(c.mark)
		}
		if c.kind&floorBit != 0 {
			t.marksOf(c.kind&^floorBit).raiseFloor(c.hash, c.host, c.mark)
		} else {
			t.fold(t.marksOf(c.kind).raise(c.hash, c.mark))
		}
	}
}

// marksOf returns the marks of a kind that are known by hash.
func (t *Table) marksOf(k kind) *marks {
	switch k {
	case changeTag:
		return t.tags
	case changeHostTag:
		return t.hostTags
	case changeURL:
		return t.urls
	case changeHost:
		return t.hosts
	case changePrefixHost:
		return t.prefixes.folded
	case changeAll, changePrefix:
	}
	return nil
}

// changes calls f with the changes that make up t, in an order in which apply rebuilds it. Only the one writer may call it.
func (t *Table) changes(f func(change)) {
	if m := t.all.load(); m != (mark{}) {
		f(change{kind: changeAll, mark: m})
	}
	for _, k := range [...]kind{changeTag, changeHostTag, changeURL, changeHost, changePrefixHost} {
		t.marksOf(k).changes(k, f)
	}
	t.prefixes.changes(f)
}

// errChange says that a record has no valid change.
var errChange = errors.New("invalid purge record")

// A change is, little endian:
//
//	kind [1] hash [8] host [8] generation hard [8] soft [8] length of text [4] text
const changeBytes = 37

func (c *change) appendTo(b []byte) []byte {
	b = append(b, byte(c.kind))
	for _, n := range [...]uint64{c.hash, c.host, c.hard, c.soft} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.text)))
	return append(b, c.text...)
}

// nextChange decodes the change at the start of b. Its text shares memory with b.
func nextChange(b []byte) (c change, rest []byte, err error) {
	if len(b) < changeBytes {
		return c, nil, errChange
	}
	c.kind = kind(b[0])
	c.hash, c.host = binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:])
	c.hard, c.soft = binary.LittleEndian.Uint64(b[17:]), binary.LittleEndian.Uint64(b[25:])
	length := binary.LittleEndian.Uint32(b[33:])
	if b = b[changeBytes:]; uint64(length) > uint64(len(b)) || !c.known() {
		return c, nil, errChange
	}
	c.text = b[:length]
	return c, b[length:], nil
}

func (c *change) known() bool {
	switch c.kind &^ floorBit {
	case changeAll, changePrefix:
		return c.kind&floorBit == 0
	case changeTag, changeHostTag, changeURL, changeHost, changePrefixHost:
		return true
	}
	return false
}
