// Package wire checks the framing, the target and the Host of requests.
//
// It answers one question: is this request unambiguous, and which resource does it
// name? It checks the framing of the raw header block, parses the request target
// and the Host, and builds the canonical key from the same bytes that are forwarded
// to the origin. fasthttp's URI is used neither for the key nor for forwarding: it
// decodes also what separates, so it is not what an origin would see.
//
// The law: one request here is one request at the origin, for the resource that the
// key names. A request that could be read in two ways is refused.
//
// Source: RFC 9112 sections 2, 3 and 6; RFC 9110 sections 4, 5 and 7.6; RFC 3986
// section 6.2.2.
package wire
