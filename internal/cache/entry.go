package cache

import (
	"time"

	"edgeproxy/internal/field"
	"edgeproxy/internal/pinned"
	"edgeproxy/internal/rfc9111"
)

// Sizes of what an entry takes beside its own bytes, in bytes.
const (
	// entryOverhead is one item, which is an Entry and its mark, with its share of
	// ristretto's two maps and of allocator rounding, or with its place in window
	// or stage. TestCostCoversTheHeap measures it.
	entryOverhead = 480
	fieldOverhead = 32 // two string headers
	nameOverhead  = 16 // one string header
	tagBytes      = 8
)

// Entry is one stored response. Its maker owns it until it is put. From then on all that it
// refers to is shared, and must not be written to, nor may an Entry that a look-up returned.
// To change one, copy the struct and put the copy.
type Entry struct {
	// Key is the hash of Name.
	Key Key
	// Name is the full canonical key: the URL part, then for a variant the part
	// that the fields named by Vary select. All that the caller keys before it knows
	// of Vary belongs to the URL part.
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

	// Serial tells this response from every other that the process has received, and earlier
	// ones where what is stored outlives them (purge.Identity); 0 is none. Two entries under one Key with
	// the same Serial, not 0, are one response.
	Serial uint64

	// Born and Tags say which purges reach the response: the generation of purges
	// when its fetch or its last validation began, and the hashes of its tags. The
	// cache does not look at them.
	Born uint64
	Tags []uint64

	// Header is what is sent on a hit, without the fields that belong to one
	// message or one connection only (Age, hop-by-hop).
	Header field.List
	// Content is what follows the head, and Pin counts the answers that are sent from it: one
	// Pin for one Content. While a Content of more than pinned.Least bytes is sent, the sender
	// holds the Pin. Nil counts nothing; an entry that is put without one gets one, if the Store
	// counts.
	Content Content
	Pin     *pinned.Body

	// ResponseTime, InitialAge and Policy are the facts that its use is worked out
	// from: when the response was received or last validated, its
	// corrected_initial_age then (RFC 9111 section 4.2.3), and the rules for it.
	ResponseTime time.Time
	InitialAge   time.Duration
	Policy       rfc9111.Policy

	// ETag is the entity tag as received, "" for none, and LastModified the
	// parsed date, zero for none: the validators (RFC 9110 section 8.8).
	ETag         string
	LastModified time.Time
}

// Cost returns the bytes e takes of MaxBytes, its share of the cache's own
// structures included. All accounting in bytes uses it.
func (e *Entry) Cost() int64 {
	n := entryOverhead + int64(len(e.Name)) + e.Content.cost()
	for i := range e.Header {
		n += fieldOverhead + int64(len(e.Header[i].Name)+len(e.Header[i].Value))
	}
	return n + namesBytes(e.Vary) + tagBytes*int64(len(e.Tags))
}

// urlName returns the URL part of the canonical key.
func (e *Entry) urlName() []byte {
	if len(e.Vary) == 0 {
		return e.Name
	}
	return e.Name[:min(int(e.URLLen), len(e.Name))]
}

func namesBytes(names []string) (n int64) {
	for _, name := range names {
		n += nameOverhead + int64(len(name))
	}
	return n
}
