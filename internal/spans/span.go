package spans

import (
	"time"

	"edgeproxy/internal/tracecontext"
)

// Kind is on which side of a request a span is.
type Kind uint8

// The kinds, by their numbers in the schema.
const (
	Internal Kind = iota + 1 // a part of another span
	Server                   // a request that was received
	Client                   // a request that was sent
)

// Span is one span that is over. Text may hold any bytes: what is not UTF-8 becomes U+FFFD, and
// what is longer than MaxText is cut.
type Span struct {
	// Self has the trace and the id. Parent is the id of the span above; all zeros: there is
	// none. Remote says that it is another program's.
	Self   tracecontext.Context
	Parent [8]byte
	Remote bool
	Kind   Kind
	Name   string
	// Start and End are when it was; an End before Start is written as Start.
	Start, End time.Time
	// Attributes are in any order, each key once.
	Attributes []Attribute
	// Link is a span that has to do with this one, of whichever trace; the zero Context is none.
	Link tracecontext.Context
	// Failed says that what the span is about has failed.
	Failed bool
}

// MaxText is the most bytes of a name or a text in an attribute that are kept.
const MaxText = 1024

// Attribute is what is known of a span by one key: a text or a number.
type Attribute struct {
	Key    string
	text   string
	number int64
	as     form
}

type form uint8

const (
	asText form = iota
	asNumber
	asTruth
)

// Text is an attribute that is text.
func Text(key, value string) Attribute { return Attribute{Key: key, text: value} }

// Number is an attribute that is a whole number.
func Number(key string, value int64) Attribute {
	return Attribute{Key: key, number: value, as: asNumber}
}

// True is an attribute that says that something holds.
func True(key string) Attribute { return Attribute{Key: key, number: 1, as: asTruth} }
