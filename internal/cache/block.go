package cache

import (
	"strings"
	"time"
	"unsafe"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// This file lays out the memory of an Object. No other file of the package uses unsafe. A block has these parts; each
// is there only if the form says so, or if it is not empty:
//
//	Object
//	spans of the Policy    5 words, with formWide
//	selection              with formVaries
//	tags                   their number and they, a word each, with formTagged
//	names of Vary          with formVaries
//	Name
//	Header                 as field.Lines
//	content
//
// The parts between Object and content are the tail. Where the tail has memory of its own (formApart), the content has
// too.
//
// A block is allocated as a slice of words, so that each word in it is aligned. No pointer past the end of a block is
// made: it would keep the memory behind the block alive.

const (
	objectBytes    = int(unsafe.Sizeof(Object{}))
	selectionBytes = int(unsafe.Sizeof(selection{}))
	wordBytes      = 8
	varySeparator  = "," // no field name contains it
)

// tail returns a pointer to this offset in the tail, which must not be empty.
func (o *Object) tail(at uintptr) unsafe.Pointer {
	if o.form&formApart != 0 {
		return unsafe.Add(unsafe.Pointer(o.apart().tail), at)
	}
	return unsafe.Add(unsafe.Pointer(o), uintptr(objectBytes)+at)
}

// apart returns o as the apart that it is part of. O has formApart.
func (o *Object) apart() *apart { return (*apart)(unsafe.Pointer(o)) }

// loaded returns o as the loaded that it is part of. O has formLoaded.
func (o *Object) loaded() *loaded { return (*loaded)(unsafe.Pointer(o)) }

// part returns n bytes of the tail at an offset.
func (o *Object) part(at uintptr, n uint32) string {
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(o.tail(at)), n)
}

func (o *Object) slice(at uintptr, n uint32) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(o.tail(at)), n)[:n:n]
}

// words returns n words of the tail, at least one.
func (o *Object) words(at uintptr, n uint64) []uint64 {
	return unsafe.Slice((*uint64)(o.tail(at)), n)[:n:n]
}

func (o *Object) selection() *selection { return (*selection)(o.tail(o.selectionAt())) }

func (o *Object) selectionAt() uintptr {
	if o.form&formWide != 0 {
		return spanCount * wordBytes
	}
	return 0
}

func (o *Object) tagsAt() uintptr {
	if o.form&formVaries != 0 {
		return o.selectionAt() + uintptr(selectionBytes)
	}
	return o.selectionAt()
}

// nameAt returns the offset of Name in the tail.
func (o *Object) nameAt() uintptr {
	if o.form&formMore == 0 {
		return 0
	}
	at := o.tagsAt()
	if o.form&formTagged != 0 {
		at += wordBytes * uintptr(1+len(o.Tags()))
	}
	if o.form&formVaries != 0 {
		at += uintptr(o.selection().varBytes)
	}
	return at
}

// bodyAt returns the length of the tail, which is the offset of the content.
func (o *Object) bodyAt() uintptr { return o.nameAt() + uintptr(o.nameBytes) + uintptr(o.headerBytes) }

// NewObject returns e as an Object that is in no Store. It shares the content of e, and nothing else.
func NewObject(e *Entry) *Object { return newObject(e, false) }

// newObject returns e as an Object. Whole says that the content, which is in memory, is copied into the block.
func newObject(e *Entry, whole bool) *Object { return newObjectIn(e, whole, nil) }

// newObjectIn is newObject, with the block in room if that is large enough.
func newObjectIn(e *Entry, whole bool, room []uint64) *Object {
	form, spans := formOf(&e.Policy)
	vary := strings.Join(e.Vary, varySeparator)
	tail := len(vary) + len(e.Name) + int(e.Header.Size())
	if form&formWide != 0 {
		tail += spanCount * wordBytes
	}
	if len(e.Vary) > 0 {
		form |= formVaries
		tail += selectionBytes
	}
	if e.coded() {
		form |= formCoded
	}
	if len(e.Tags) > 0 {
		form |= formTagged
		tail += wordBytes * (1 + len(e.Tags))
	}
	var o *Object
	if whole {
		o = newBlockIn(tail+len(e.Content.bytes), room)
		o.bodyBytes = uint32(len(e.Content.bytes)) //nolint:gosec // at most pinned.Least
	} else {
		o = newApart(tail, e.Content, e.Pin)
		form |= formApart
	}
	o.form, o.spans = form, spans
	o.status, o.key, o.serial, o.born = uint16(e.Status), e.Key, e.Serial, e.Born //nolint:gosec // three digits
	o.setResponseTime(e.ResponseTime)
	o.initialAge = e.InitialAge
	o.nameBytes, o.headerBytes = uint32(len(e.Name)), uint32(e.Header.Size()) //nolint:gosec // within Takes
	o.fill(e, vary, whole)
	return o
}

// fill writes the tail of o, which is new, and the content if it is whole.
func (o *Object) fill(e *Entry, vary string, whole bool) {
	if o.form&formWide != 0 {
		for i, d := range spansOf(&e.Policy) {
			o.words(0, spanCount)[i] = uint64(d) //nolint:gosec // converted back when read
		}
	}
	if o.form&formVaries != 0 {
		*o.selection() = selection{url: e.URL, urlBytes: uint32(e.URLLen), varBytes: uint32(len(vary))} //nolint:gosec // parts of Name and head
	}
	if o.form&formTagged != 0 {
		o.words(o.tagsAt(), 1)[0] = uint64(len(e.Tags))
		copy(o.Tags(), e.Tags)
	}
	text := uint32(len(vary)) + o.nameBytes + o.headerBytes //nolint:gosec // a part of the head
	b := o.slice(o.nameAt()-uintptr(len(vary)), text)[:0]
	b = append(append(b, vary...), e.Name...)
	field.AppendLines(b, e.Header)
	if whole {
		copy(o.slice(o.bodyAt(), o.bodyBytes), e.Content.bytes)
	}
}

// newBlock returns an empty Object with more bytes of space behind it.
func newBlock(more int) *Object { return objectIn(make([]uint64, wordsOf(more))) }

// newBlockIn returns a block in room if that is large enough, else a new one. Room need not be zeroed.
func newBlockIn(more int, room []uint64) *Object {
	if wordsOf(more) > len(room) {
		return newBlock(more)
	}
	o := objectIn(room)
	o.marks.Store(0)
	o.used.Store(0)
	o.place = 0
	return o
}

// wordsOf returns the length in words of a block with so many bytes behind the Object.
func wordsOf(more int) int { return (objectBytes + more + wordBytes - 1) / wordBytes }

// blockWords returns the length in words of the block of o. O has no formApart.
func (o *Object) blockWords() int { return wordsOf(int(o.bodyAt()) + int(o.bodyBytes)) }

// objectIn returns the Object whose block begins at the first of words. Words must have space for all of it.
func objectIn(words []uint64) *Object { return (*Object)(unsafe.Pointer(unsafe.SliceData(words))) }

// newApart returns an empty Object with this content, and space for a tail of so many bytes.
func newApart(tail int, c Content, pin *pinned.Body) *Object {
	a := &apart{content: c, pin: pin}
	a.form = formApart
	if tail > 0 {
		a.tail = unsafe.SliceData(make([]uint64, (tail+wordBytes-1)/wordBytes))
	}
	return &a.Object
}

// clone returns a copy of o without marks. With formApart, the copy shares the tail and the content.
func (o *Object) clone() *Object {
	if o.form&formApart != 0 {
		a := o.apart()
		next := &apart{tail: a.tail, content: a.content, pin: a.pin}
		next.copyFacts(o)
		return &next.Object
	}
	next := newBlock(int(o.bodyAt()) + int(o.bodyBytes))
	next.copyBlock(o)
	return next
}

// copyTo returns a copy of o with its marks in words, which has the length of its block. O has no formApart.
func (o *Object) copyTo(words []uint64) *Object {
	next := objectIn(words)
	next.copyBlock(o)
	next.copyMarks(o)
	return next
}

// copyBlock copies from, but for its marks, into o, which is new.
func (o *Object) copyBlock(from *Object) {
	o.copyFacts(from)
	n := uint32(from.bodyAt()) + from.bodyBytes //nolint:gosec // bodyAt fits a block, as above
	copy(o.slice(0, n), from.slice(0, n))
}

// withContent returns a copy of o with this content in place of its own.
func (o *Object) withContent(c Content, pin *pinned.Body) *Object {
	n := o.bodyAt()
	next := newApart(int(n), c, pin)
	next.copyFacts(o)
	next.form |= formApart
	next.bodyBytes = 0
	copy(next.slice(0, uint32(n)), o.slice(0, uint32(n))) //nolint:gosec // n is at most bodyAt, as above
	return next
}

// copyFacts copies the fields of fixed size, except the marks and the flags that say that it was read from the disk.
func (o *Object) copyFacts(from *Object) {
	o.status, o.form, o.key, o.serial, o.born = from.status, from.form&^(formLoaded|formSecondHit), from.key, from.serial, from.born
	o.received, o.initialAge, o.spans = from.received, from.initialAge, from.spans
	o.nameBytes, o.headerBytes, o.bodyBytes = from.nameBytes, from.headerBytes, from.bodyBytes
}

func spansOf(p *rfc9111.Policy) [spanCount]time.Duration {
	return [...]time.Duration{p.Lifetime, p.WhileRevalidate, p.IfError, p.OriginFailure, p.Keep}
}

// formOf returns the booleans of p as a form, and its spans in seconds. It sets formWide if one is no whole number of
// seconds.
func formOf(p *rfc9111.Policy) (f form, seconds [spanCount]uint32) {
	for i, on := range [...]bool{p.Explicit, p.Heuristic, p.Validate, p.MustRevalidate, p.Immutable, p.TagWeakened} {
		if on {
			f |= 1 << i
		}
	}
	for i, d := range spansOf(p) {
		seconds[i] = uint32(d / time.Second) //nolint:gosec // checked below
		if time.Duration(seconds[i])*time.Second != d {
			f |= formWide
		}
	}
	return f, seconds
}
