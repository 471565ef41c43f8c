// Package spans sends spans to a receiver of OpenTelemetry.
//
// It answers one question: how does what a request went through reach the operator's tracing
// without anybody waiting for it?
//
// The law it keeps: Add encodes a span into a bounded queue in memory and returns; one goroutine
// sends what has gathered, by OTLP over HTTP. When the receiver is slower than the requests, or
// does not answer at all, the queue fills up and further spans are dropped and counted. Every
// span is either sent or counted as dropped, with the cause, never both, never neither.
//
// The encoding is the binary one of opentelemetry/proto/trace/v1, written by append; a test
// decodes it by the generated package of that schema (0103). Sampler says which requests are traced.
// Times are the caller's. The room does not know what a request is.
package spans
