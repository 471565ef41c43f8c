// Package byteranges answers requests for several ranges of stored content (RFC 9110 section 14).
//
// It answers one question: what is sent for these ranges of this content? Several says which ranges are left of those that were
// asked for, New makes the multipart/byteranges content of them, and AppendContentRange says of one part which it is.
//
// The laws: the answer is never much longer than the whole, however the ranges are chosen (section 17.15). A boundary never
// occurs in the parts that it separates. Content in memory is not copied.
//
// The package evaluates no conditions and knows no requests: one range, and whether any applies, is for rfc9111 and the caller
// to say. It sends nothing and keeps no state. All functions are safe for concurrent use;
// Parts belong to one goroutine.
package byteranges
