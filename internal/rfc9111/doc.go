// Package rfc9111 holds the rules of HTTP caching as pure functions.
//
// It answers these questions about one exchange: may a shared cache store this
// response (Storable), for how long is it fresh (Lifetime), how old is it
// (InitialAge, CurrentAge), which request fields select it (VaryNames,
// AppendVariantField), does a request's condition or range hold for it
// (NotModified, IfRangeHolds, ParseRange), and which fields end at this hop
// (EndToEnd, ConnectionOptions).
//
// The law: when in doubt, do not reuse. A field that cannot be read never makes
// a response live longer or reach more clients, and never hides a directive
// beside it. Two exceptions are the RFCs' own: an unreadable Age is ignored (RFC
// 9111 section 5.1), and an unreadable Date is the time of receipt (RFC 9110
// section 6.6.1). Every parser is total: any bytes give an answer, in time linear
// in their length.
//
// It reads no clock, keeps no state, does no I/O and owns nothing: times are
// arguments, and results share the strings and bytes they were given. All
// functions are safe for concurrent use.
//
// It does not do, yet: heuristic freshness (RFC 9111 section 4.2.2), serving
// stale responses (section 4.2.4, RFC 5861), validation with the origin
// (section 4.3), partial responses (section 3.3), invalidation (section 4.4) and
// targeted fields (RFC 9213). It is therefore stricter than RFC 9111 asks: what
// would have to be validated before each use is not stored at all.
package rfc9111
