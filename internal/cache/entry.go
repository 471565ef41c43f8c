package cache

import (
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// Sizes of what an entry takes beside its own bytes, in bytes.
const (
	// entryOverhead is one Object with its share of ristretto's two maps and of allocator rounding, or with its slot in
	// window or stage. smallOverhead is the same for an Object that may lie in a region, without its share of the holes
	// there. TestCostCoversTheHeap and TestManyObjects measure them.
	entryOverhead = 296
	smallOverhead = 256
	// smallOwn is how many bytes of its own an entry may have to lie in a region, give or take a few.
	smallOwn     = smallBytes - objectBytes - 16*wordBytes
	nameOverhead = 16 // one string header, in the index
	tagBytes     = 8
)

// Entry is a response that is to be stored. It belongs to its maker. The cache copies it, except for content of more
// than pinned.Least bytes: that is shared from then on, and nobody may write to it. The stored form is an Object.
type Entry struct {
	// Key is the hash of Name.
	Key Key
	// Name is the full canonical key: the URL part, then for a variant the part that the fields named by Vary select.
	// Whatever the caller keys before it knows Vary belongs to the URL part.
	Name []byte
	// URL is the hash of the URL part, the same for all variants of a URL. An
	// entry without Vary has Key equal to URL.
	URL Key
	// URLLen is the length of the URL part of Name. An entry without Vary does
	// not need it: its whole Name is the URL part.
	URLLen int32
	// Status is the status code of the response.
	Status int32
	// Vary holds the canonical names, sorted, of the response's Vary (RFC 9110
	// section 12.5.5); empty means none.
	Vary []string

	// Serial identifies the response among all that the process has received, and among earlier ones if what is stored
	// outlives the process (purge.Identity); 0 is none. Two entries under one Key with the same Serial, not 0, are one
	// response.
	Serial uint64

	// Born and Tags say which purges reach the response: the generation of purges when its fetch or its last validation
	// began, and the hashes of its tags. The cache does not interpret them.
	Born uint64
	Tags []uint64

	// Header is sent on a hit. It lacks the fields that belong to one message or one connection only (Age, hop-by-hop).
	Header field.List
	// Content is the body, and Pin counts the answers that are sent from it: one Pin for one Content. While a Content
	// of more than pinned.Least bytes is sent, the sender holds the Pin. A nil Pin counts nothing. An entry that is put
	// without one gets one, if the Store counts.
	Content Content
	Pin     *pinned.Body

	// ResponseTime, InitialAge and Policy decide its use: when the response was received or last validated, its
	// corrected_initial_age then (RFC 9111 section 4.2.3), and the rules for it.
	ResponseTime time.Time
	InitialAge   time.Duration
	Policy       rfc9111.Policy
}

// weight is what a response takes of the Store's bytes.
type weight struct {
	head    int64 // all but the content, with the Store's overhead
	content int64
	record  int64 // for a variant, the record of its URL without any variant; else 0
}

func (w weight) all() int64 { return w.head + w.content }

// staged is what the response takes in the stage.
func (w weight) staged() int64 {
	if w.record == 0 {
		return w.all()
	}
	return w.all() + w.record + variantBytes
}

func (e *Entry) weight() weight { return e.weightWith(e.Content.cost()) }

// weightWith is the weight of e if its content had this many bytes.
func (e *Entry) weightWith(content int64) weight {
	w := weight{
		head:    int64(len(e.Name)) + e.Header.Size() + tagBytes*int64(len(e.Tags)),
		content: content,
	}
	if len(e.Vary) > 0 {
		names := namesBytes(e.Vary)
		w.head += names
		w.record = recordBytes(len(e.urlName()), names)
	}
	w.head += w.overhead()
	return w
}

// overhead is what the response takes beside its own bytes; w has only those yet. It does not depend on where the
// content lies. So a model of the cache, whose contents take no memory, accounts like the cache.
func (w weight) overhead() int64 {
	if own := w.all(); own <= int64(smallOwn) {
		return smallOverhead + (own+int64(objectBytes))/holesShare
	}
	return entryOverhead
}

func (o *Object) weight() weight {
	w := weight{head: int64(o.nameBytes) + int64(o.headerBytes), content: o.Content().cost()}
	if o.form&formTagged != 0 {
		w.head += tagBytes * int64(len(o.Tags()))
	}
	if o.form&formVaries != 0 {
		vary := o.vary()
		names := int64(len(vary)) + nameOverhead + int64(strings.Count(vary, varySeparator))*(nameOverhead-1)
		w.head += names
		w.record = recordBytes(len(o.URLName()), names)
	}
	w.head += w.overhead()
	return w
}

// Cost returns the bytes of MaxBytes that e takes, with its share of the cache's own structures. All accounting in
// bytes uses it.
func (e *Entry) Cost() int64 { return e.weight().all() }

func (o *Object) cost() int64 { return o.weight().all() }

// urlName returns the URL part of the canonical key.
func (e *Entry) urlName() []byte {
	if len(e.Vary) == 0 {
		return e.Name
	}
	return e.Name[:min(int(e.URLLen), len(e.Name))]
}

// coded is Coded of the Object that is made of e.
func (e *Entry) coded() bool {
	return e.Header.Has("Content-Encoding") && !slices.Contains(e.Vary, "Accept-Encoding")
}

func namesBytes(names []string) (n int64) {
	for _, name := range names {
		n += nameOverhead + int64(len(name))
	}
	return n
}
