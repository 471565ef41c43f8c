// Package wire is the gate in front of fasthttp's parser.
//
// It answers one question: is this request unambiguous, and which resource does
// it name? It checks the framing of the raw header block, parses the request
// target and the Host by itself, and builds the canonical key from the very bytes
// that are forwarded to the origin. fasthttp's own URI is never used for either:
// it decodes and normalises, so what it keys is not what an origin would see.
//
// The law: one request here is one request at the origin, for the resource that
// was keyed. Whatever could be read in two ways is refused.
//
// Source: RFC 9112 sections 2, 3 and 6; RFC 9110 sections 4, 5 and 7.6.
package wire
