// Package tracecontext reads the trace context of a request.
//
// It answers one question: to which trace does this request belong?
//
// The law it keeps: a traceparent that is not valid by W3C Trace Context (section 3.2) belongs
// to no trace. It does not make one, and it changes nothing: the proxy passes traceparent and
// tracestate on as they came (0092).
package tracecontext
