// Package rfc9111 holds the rules of HTTP caching as pure functions.
//
// It answers these questions about one exchange:
//
//   - May a shared cache store this response, and which of its fields (Judge)? How
//     may a cache use it: fresh, stale, or after validation (Policy)?
//   - How old is it (InitialAge, CurrentAge)?
//   - Which requests select it: by which fields (VaryNames, AppendVariantField), in
//     which normalized form (Codings, AppendLanguages), and by which query
//     (ParseNoVarySearch)?
//   - Does a condition of a request hold for it (NotModified, IfRangeHolds)? Which
//     bytes does a range select (ParseRange, AppendRanges, Coalesce), and which
//     bytes does a 206 contain (PartOf)?
//   - How is it validated (ValidationFields), and what is its header after a 304
//     (Update)?
//   - What does a response invalidate (Invalidates, InvalidationTarget,
//     InvalidatedGroups), and to which groups does it belong (Groups)?
//   - Which fields are hop-by-hop (EndToEnd, ConnectionOptions)?
//
// The rules are those of RFC 9111 and of its extensions: stale-while-revalidate and
// stale-if-error (RFC 5861), immutable (RFC 8246), CDN-Cache-Control (RFC 9213),
// cache groups (RFC 9875) and the draft of No-Vary-Search. Surrogate-Control, of a
// W3C note, is an option.
//
// The law: when in doubt, do not reuse. A malformed field never makes a response
// live longer or reach more clients, and never hides a directive beside it. The
// RFCs make three exceptions: an invalid Age is ignored (RFC 9111 section 5.1), an
// invalid Date counts as the time of receipt (RFC 9110 section 6.6.1), and an
// invalid structured field counts as absent (RFC 9651 section 4.2). Every parser
// accepts any bytes. It takes time linear in their length and a bounded number of
// allocations.
//
// It reads no clock, keeps no state and does no I/O: times are arguments, and
// results share the strings and bytes of the arguments. All functions are safe for
// concurrent use.
//
// It does not know keys, stores or connections, and does not interpret bodies:
// other packages check that a body is whole, and join the bytes of parts. Pragma is
// ignored.
package rfc9111
