package tracecontext

import "encoding/hex"

// Context names one span of a trace. The zero Context is none.
type Context struct {
	Trace [16]byte
	Span  [8]byte
	// Sampled says that the sender of the span records it.
	Sampled bool
}

// sampled is the bit of the flags that says so; the others are not looked at.
const sampled = 1

// Parse returns what a value of traceparent says, and whether it is valid, as TraceID has it.
func Parse(value []byte) (c Context, ok bool) {
	trace := TraceID(value)
	if trace == nil {
		return Context{}, false
	}
	var flags [1]byte
	_, _ = hex.Decode(c.Trace[:], trace) // TraceID has looked at all digits
	_, _ = hex.Decode(c.Span[:], value[parentAt:flagsAt-1])
	_, _ = hex.Decode(flags[:], value[flagsAt:length])
	c.Sampled = flags[0]&sampled != 0
	return c, true
}

// Append appends c as a value of traceparent, of version 00.
func (c Context) Append(b []byte) []byte {
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, c.Trace[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, c.Span[:])
	if c.Sampled {
		return append(b, "-01"...)
	}
	return append(b, "-00"...)
}
