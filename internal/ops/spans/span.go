package spans

import (
	"time"

	"edgeproxy/internal/ops/tracecontext"
)

// Kind is the role of a span in a request.
type Kind uint8

// The kinds, with their numbers in the schema.
const (
	Internal Kind = iota + 1 // a part of another span
	Server                   // a request that was received
	Client                   // a request that was sent
)

// Span is one finished span. Texts may have any bytes: invalid UTF-8 becomes U+FFFD, and a text
// longer than MaxText is cut.
type Span struct {
	// Self has the trace id and the span id. Parent is the id of the parent span; all zeros:
	// none. Remote says that the parent is another program's.
	Self   tracecontext.Context
	Parent [8]byte
	Remote bool
	Kind   Kind
	Name   string
	// Start and End bound the span. An End before Start is written as Start.
	Start, End time.Time
	// Attributes are in any order, each key once.
	Attributes []Attribute
	// Link is a related span, of any trace; the zero Context: none.
	Link tracecontext.Context
	// Failed sets the status to error. Why is its description; "": none.
	Failed bool
	Why    string
}

// MaxText bounds the bytes of a name or of an attribute's text.
const MaxText = 1024

// Attribute is a key of a span with its value: a text, a number or true.
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

// Text returns an attribute with a text.
func Text(key, value string) Attribute { return Attribute{Key: key, text: value} }

// Number returns an attribute with a whole number.
func Number(key string, value int64) Attribute {
	return Attribute{Key: key, number: value, as: asNumber}
}

// True returns an attribute with the value true.
func True(key string) Attribute { return Attribute{Key: key, number: 1, as: asTruth} }
