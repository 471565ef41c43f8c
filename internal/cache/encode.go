package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// This file encodes an entry, without its content, for what outlives the process. The encoding, little endian, is
//
//	 0  version, 1 byte, now 2
//	 1  flags, 1 byte: bits 0 to 5 are Policy.Explicit, Heuristic, Validate, MustRevalidate,
//	    Immutable and TagWeakened
//	 2  Status, 2 bytes
//	 4  length of all of it, 4 bytes
//	 8  Key, URL: 4 times 8 bytes, Hi before Lo
//	40  Serial, Born: 8 bytes each
//	56  ResponseTime: seconds since 1970, 8 bytes, and nanoseconds, 4 bytes
//	68  InitialAge and of Policy Lifetime, WhileRevalidate, IfError, OriginFailure, Keep: 8 bytes
//	    of nanoseconds each
//	116 URLLen, and the lengths or counts of Name, Vary, Tags, Header: 4 bytes each
//	136 Tags, 8 bytes each; Name; each name of Vary behind 4 bytes of its length; each
//	    Name and Value of Header behind 4 bytes of the length of each
//	then CRC-32C of all before, 4 bytes
//
// The fields of fixed size come first, so that an index can be built and times can be set without parsing the rest.
// Each entry has exactly one encoding, and the parser accepts no other.

const (
	entryVersion    = 2
	entryFixedBytes = 136
	entrySumBytes   = 4
)

// Errors of parseEntry.
var (
	ErrEntryVersion = errors.New("cache: entry of another version")
	ErrEntryDamaged = errors.New("cache: entry is damaged")
)

// errEntryTooLarge says that an entry does not fit the encoding. No entry that comes from a request or a response is
// that large.
var errEntryTooLarge = errors.New("cache: entry is too large to be written")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	flagExplicit = 1 << iota
	flagHeuristic
	flagValidate
	flagMustRevalidate
	flagImmutable
	flagTagWeakened
	allFlags = 1<<iota - 1
)

// appendEntry appends the encoding of e, all but Content and Pin, that parseEntry reads.
func appendEntry(b []byte, e *Entry) ([]byte, error) {
	size := e.writtenBytes()
	if size > math.MaxInt32 || e.Status < 0 || e.Status > math.MaxUint16 || e.URLLen < 0 || int(e.URLLen) > len(e.Name) {
		return b, errEntryTooLarge
	}
	start, le, p := len(b), binary.LittleEndian, &e.Policy
	b = append(b, entryVersion, e.flags())
	b = le.AppendUint16(b, uint16(e.Status))
	b = le.AppendUint32(b, uint32(size))
	for _, n := range [...]uint64{e.Key.Hi, e.Key.Lo, e.URL.Hi, e.URL.Lo, e.Serial, e.Born} {
		b = le.AppendUint64(b, n)
	}
	b = appendTime(b, e.ResponseTime)
	for _, d := range [...]time.Duration{e.InitialAge, p.Lifetime, p.WhileRevalidate, p.IfError, p.OriginFailure, p.Keep} {
		b = le.AppendUint64(b, uint64(d))
	}
	for _, n := range [...]int{int(e.URLLen), len(e.Name), len(e.Vary), len(e.Tags), len(e.Header)} {
		b = le.AppendUint32(b, uint32(n)) //nolint:gosec // below size
	}
	for _, t := range e.Tags {
		b = le.AppendUint64(b, t)
	}
	b = append(b, e.Name...)
	for _, v := range e.Vary {
		b = appendString(b, v)
	}
	b = appendHeader(b, e.Header)
	return le.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// writtenBytes returns the length of what appendEntry appends.
func (e *Entry) writtenBytes() int64 {
	n := entryFixedBytes + entrySumBytes + int64(len(e.Name)+tagBytes*len(e.Tags))
	for _, v := range e.Vary {
		n += 4 + int64(len(v))
	}
	for i := range e.Header {
		n += 8 + int64(len(e.Header[i].Name)+len(e.Header[i].Value))
	}
	return n
}

func (e *Entry) flags() (flags byte) {
	p := &e.Policy
	for i, on := range [...]bool{p.Explicit, p.Heuristic, p.Validate, p.MustRevalidate, p.Immutable, p.TagWeakened} {
		if on {
			flags |= 1 << i
		}
	}
	return flags
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Unix()))
	return binary.LittleEndian.AppendUint32(b, uint32(t.Nanosecond())) //nolint:gosec // below 10^9
}

func appendHeader(b []byte, h field.List) []byte {
	for i := range h {
		b = appendString(appendString(b, h[i].Name), h[i].Value)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...) //nolint:gosec // below the size of the entry
}

// parseEntry returns the entry that b encodes, without content. It keeps no reference to b. The error is
// ErrEntryVersion, or ErrEntryDamaged with what is wrong.
func parseEntry(b []byte) (*Entry, error) {
	switch {
	case len(b) == 0:
		return nil, damaged("it is empty")
	case b[0] != entryVersion:
		return nil, fmt.Errorf("%w: %d, must be %d", ErrEntryVersion, b[0], entryVersion)
	case len(b) < entryFixedBytes+entrySumBytes || int64(binary.LittleEndian.Uint32(b[4:])) != int64(len(b)):
		return nil, damaged("its length")
	}
	body, sum := b[:len(b)-entrySumBytes], binary.LittleEndian.Uint32(b[len(b)-entrySumBytes:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, damaged("its checksum")
	}
	r := entryReader{rest: string(body)}
	e := r.entry()
	if r.bad || r.rest != "" {
		return nil, damaged("what it consists of")
	}
	return e, nil
}

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrEntryDamaged, what) }

// entryReader reads one field after the other from rest. When rest is too short it sets bad and returns zero values.
type entryReader struct {
	rest string
	bad  bool
}

func (r *entryReader) take(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// number reads a number of so many bytes.
func (r *entryReader) number(bytes int) (n uint64) {
	s := r.take(uint64(bytes))
	for i := len(s) - 1; i >= 0; i-- {
		n = n<<8 | uint64(s[i])
	}
	return n
}

func (r *entryReader) string() string { return r.take(r.number(4)) }

func (r *entryReader) key() Key { return Key{Hi: r.number(8), Lo: r.number(8)} }

func (r *entryReader) duration() time.Duration { return time.Duration(r.number(8)) }

func (r *entryReader) time() time.Time {
	seconds, nanos := int64(r.number(8)), int64(r.number(4))
	t := time.Unix(seconds, nanos).UTC()
	r.bad = r.bad || nanos >= int64(time.Second) || t.Unix() != seconds
	return t
}

// count returns a count from fixed. It sets bad if rest cannot hold so many elements of at least so many bytes each.
func (r *entryReader) count(bytes int, fixed string) int {
	n := uint64(fixed[0]) | uint64(fixed[1])<<8 | uint64(fixed[2])<<16 | uint64(fixed[3])<<24
	if n*uint64(bytes) > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *entryReader) entry() *Entry {
	r.take(1)
	flags := byte(r.number(1))
	e := &Entry{Status: int32(r.number(2))}
	r.take(4)
	e.Key, e.URL, e.Serial, e.Born = r.key(), r.key(), r.number(8), r.number(8)
	e.ResponseTime = r.time()
	r.bad = r.bad || flags&^allFlags != 0
	e.InitialAge = r.duration()
	e.Policy = rfc9111.Policy{
		Explicit: flags&flagExplicit != 0, Heuristic: flags&flagHeuristic != 0, Validate: flags&flagValidate != 0,
		MustRevalidate: flags&flagMustRevalidate != 0, Immutable: flags&flagImmutable != 0, TagWeakened: flags&flagTagWeakened != 0,
		Lifetime: r.duration(), WhileRevalidate: r.duration(), IfError: r.duration(), OriginFailure: r.duration(), Keep: r.duration(),
	}
	counts := r.take(5 * 4)
	urlLen, name := r.count(1, counts), r.count(1, counts[4:])
	vary, tags, header := r.count(4, counts[8:]), r.count(tagBytes, counts[12:]), r.count(8, counts[16:])
	if r.bad = r.bad || urlLen > name; r.bad {
		return nil
	}
	e.URLLen = int32(urlLen) //nolint:gosec // within the entry
	for range tags {
		e.Tags = append(e.Tags, r.number(tagBytes))
	}
	e.Name = []byte(r.take(uint64(name)))
	for range vary {
		e.Vary = append(e.Vary, r.string())
	}
	for range header {
		e.Header = append(e.Header, field.Field{Name: r.string(), Value: r.string()})
	}
	return e
}
