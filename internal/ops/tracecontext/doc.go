// Package tracecontext reads and writes the trace context of a request.
//
// It answers one question: to which trace does this request belong, and which span is its
// parent?
//
// The law it keeps: a traceparent that is not valid by W3C Trace Context (section 3.2) belongs
// to no trace. It does not make one, and it changes nothing: who has no span of its own passes
// traceparent and tracestate on as they came (0092, 0103).
package tracecontext
