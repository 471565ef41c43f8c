package cache

import (
	"strings"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// Object is a stored response, as a look-up returns it. It is one block of memory without pointers: these fields, then
// the tail, which is the rest of an Entry as bytes, then a content of at most pinned.Least bytes. So the collector sees
// one allocation for each stored response, and has no pointers to follow. Larger content has memory of its own, or is
// in a File.
//
// An Object never changes, except for marks, used and place. What its methods return are parts of it. They may be kept as
// long as needed, even after it has left the cache, and nobody may write to them. It is safe for concurrent use. Only
// this package makes Objects, and nobody copies one.
type Object struct {
	marks        atomic.Uint32 // see item.go; only marks, used and place change
	used         atomic.Uint32 // the tick of the last use; see ranked.go
	key          Key
	serial, born uint64
	received     int64 // see epoch.go
	initialAge   time.Duration
	spans        [spanCount]uint32 // spans of the Policy, in seconds; not with formWide
	nameBytes    uint32
	headerBytes  uint32
	bodyBytes    uint32 // length of the content within the block
	place        uint32 // its number in blocks, 0: it has none; the writer's, see regions.go
	status       uint16
	form         form
}

// form says what the tail has, and has the booleans of the Policy.
type form uint16

const (
	formExplicit form = 1 << iota
	formHeuristic
	formValidate
	formMustRevalidate
	formImmutable
	formTagWeakened
	formWide      // the tail has the spans of the Policy, to the nanosecond
	formVaries    // the tail has a selection and the names of Vary
	formTagged    // the tail has tags
	formWall      // received is in wall clock time
	formApart     // tail and content have memory of their own; see apart
	formLoaded    // it was read from the disk; see loaded
	formSecondHit // this was its second hit in memory's window; see recenthits.go
	formCoded     // see Coded

	formMore = formWide | formVaries | formTagged
)

// spanCount is how many spans of time a Policy has.
const spanCount = 5

// selection is the part of the tail that only an Object with Vary has.
type selection struct {
	url                Key
	urlBytes, varBytes uint32 // the length of the URL part of the name, and of the names of Vary
}

// apart is an Object whose tail and content are not in its block.
type apart struct {
	Object
	tail    *uint64 // its first word
	content Content
	pin     *pinned.Body
}

// Key returns the hash of Name.
func (o *Object) Key() Key { return o.key }

// Name returns the full canonical key; see Entry.
func (o *Object) Name() []byte { return o.slice(o.nameAt(), o.nameBytes) }

// URL returns the hash of the URL part of Name.
func (o *Object) URL() Key {
	if o.form&formVaries == 0 {
		return o.key
	}
	return o.selection().url
}

// URLName returns the URL part of Name.
func (o *Object) URLName() []byte {
	name := o.Name()
	if o.form&formVaries == 0 {
		return name
	}
	return name[:min(int(o.selection().urlBytes), len(name))]
}

// Varies reports whether the response has Vary.
func (o *Object) Varies() bool { return o.form&formVaries != 0 }

// Coded reports whether the response has a content coding, and Vary does not say that Accept-Encoding selects it. Then a
// client that refuses the coding may find it.
func (o *Object) Coded() bool { return o.form&formCoded != 0 }

// Vary returns the names of Vary; see Entry. It allocates if there are any.
func (o *Object) Vary() []string {
	if o.form&formVaries == 0 {
		return nil
	}
	return strings.Split(o.vary(), varySeparator)
}

// variesBy reports whether Vary has these names. It does not allocate.
func (o *Object) variesBy(names []string) bool {
	rest, more := o.vary(), o.Varies()
	for _, want := range names {
		var name string
		if !more {
			return false
		}
		if name, rest, more = strings.Cut(rest, varySeparator); name != want {
			return false
		}
	}
	return !more
}

func (o *Object) vary() string {
	if o.form&formVaries == 0 {
		return ""
	}
	s := o.selection()
	return o.part(o.nameAt()-uintptr(s.varBytes), s.varBytes)
}

// Status returns the status code.
func (o *Object) Status() int { return int(o.status) }

// Serial is that of the Entry.
func (o *Object) Serial() uint64 { return o.serial }

// Born is that of the Entry.
func (o *Object) Born() uint64 { return o.born }

// Tags returns the hashes of the tags of the response.
func (o *Object) Tags() []uint64 {
	if o.form&formTagged == 0 {
		return nil
	}
	at := o.tagsAt()
	return o.words(at+wordBytes, o.words(at, 1)[0])
}

// Header returns the header; see Entry.
func (o *Object) Header() field.Lines {
	return field.Lines(o.part(o.nameAt()+uintptr(o.nameBytes), o.headerBytes))
}

// Content returns the body.
func (o *Object) Content() Content {
	if o.form&formApart != 0 {
		return o.apart().content
	}
	return Content{bytes: o.slice(o.bodyAt(), o.bodyBytes)}
}

// Pin counts the answers that are sent from Content; see Entry.
func (o *Object) Pin() *pinned.Body {
	if o.form&formApart != 0 {
		return o.apart().pin
	}
	return nil
}

// FromDisk reports whether o was read from the disk for this caller, rather than found in memory.
func (o *Object) FromDisk() bool { return o.form&formLoaded != 0 }

// InitialAge is that of the Entry.
func (o *Object) InitialAge() time.Duration { return o.initialAge }

// Age returns the age of the response at now (RFC 9111 section 4.2.3).
func (o *Object) Age(now time.Time) time.Duration {
	return rfc9111.CurrentAge(o.initialAge, o.ResponseTime(), now)
}

// Lifetime is that of Policy.
func (o *Object) Lifetime() time.Duration { return o.span(0) }

// Policy is that of the Entry.
func (o *Object) Policy() rfc9111.Policy {
	f := o.form
	return rfc9111.Policy{
		Explicit: f&formExplicit != 0, Heuristic: f&formHeuristic != 0, Validate: f&formValidate != 0,
		MustRevalidate: f&formMustRevalidate != 0, Immutable: f&formImmutable != 0, TagWeakened: f&formTagWeakened != 0,
		Lifetime: o.span(0), WhileRevalidate: o.span(1), IfError: o.span(2), OriginFailure: o.span(3), Keep: o.span(4),
	}
}

func (o *Object) span(i int) time.Duration {
	if o.form&formWide == 0 {
		return time.Duration(o.spans[i]) * time.Second
	}
	return time.Duration(o.words(0, spanCount)[i]) //nolint:gosec // it was one
}

// Entry returns an entry equal to the one that the Object was made of. It shares all bytes with the Object. The caller
// may change its fields.
func (o *Object) Entry() *Entry {
	name := o.Name()
	e := &Entry{
		Key: o.key, Name: name, URL: o.URL(), URLLen: int32(len(o.URLName())), Status: int32(o.status), Vary: o.Vary(), //nolint:gosec // it was one
		Serial: o.serial, Born: o.born, Tags: o.Tags(), Content: o.Content(), Pin: o.Pin(),
		ResponseTime: o.ResponseTime(), InitialAge: o.initialAge, Policy: o.Policy(),
	}
	e.Header = o.Header().AppendTo(make(field.List, 0, strings.Count(string(o.Header()), "\n")))
	return e
}
