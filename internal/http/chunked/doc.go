// Package chunked reads chunked bodies strictly (RFC 9112 section 7.1).
//
// It answers one question: which bytes are the data of a chunked body, and where does it end?
// It accepts one spelling, so no other parser sees another end: lines end in CRLF, and a size is
// hexadecimal digits and nothing else. internal/origin reads responses by it, and internal/front/http1 requests.
package chunked
