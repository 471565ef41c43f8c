// Package spans sends spans to an OpenTelemetry receiver.
//
// It answers one question: how do spans reach the operator's tracing system without making a
// request wait?
//
// The law it keeps: Add encodes a span into a bounded queue in memory and returns. One goroutine
// sends the queued spans by OTLP over HTTP. If the receiver is slower than the requests, or does
// not answer at all, the queue fills up and further spans are dropped and counted. Every span is
// either sent or counted as dropped, with the cause, never both and never neither.
//
// The encoding is the binary one of opentelemetry/proto/trace/v1, written by append. A test
// decodes it with the generated package of that schema (0103). Sampler decides which requests are
// traced. Times come from the caller. The room does not know what a request is.
package spans
