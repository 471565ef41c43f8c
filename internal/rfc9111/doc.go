// Package rfc9111 holds the rules of HTTP caching as pure functions.
//
// It answers these questions about one exchange:
//
//   - May a shared cache store this response, and which of its fields (Judge)? How
//     may it be used then, fresh, stale or after validation (Policy)?
//   - How old is it (InitialAge, CurrentAge)?
//   - Which requests select it: by fields (VaryNames, AppendVariantField) and in which
//     form of them (Codings, AppendLanguages), by query (ParseNoVarySearch)?
//   - Does a condition or range of a request hold for it (NotModified,
//     IfRangeHolds, ParseRange, AppendRanges, Coalesce), and what of it does a
//     part hold (PartOf)?
//   - How is it validated (ValidationFields), and what is its header afterwards
//     (Update)?
//   - What does a response make invalid (Invalidates, InvalidationTarget,
//     InvalidatedGroups), and by which names is it found for that (Groups)?
//   - Which fields end at this hop (EndToEnd, ConnectionOptions)?
//
// The rules are those of RFC 9111 and of its extensions: stale-while-revalidate
// and stale-if-error (RFC 5861), immutable (RFC 8246), CDN-Cache-Control (RFC
// 9213), cache groups (RFC 9875) and the draft of No-Vary-Search; and by choice
// Surrogate-Control, of a W3C note.
//
// The law: when in doubt, do not reuse. A field that cannot be read never makes
// a response live longer or reach more clients, and never hides a directive
// beside it. Three exceptions are the RFCs' own: an unreadable Age is ignored (RFC
// 9111 section 5.1), an unreadable Date is the time of receipt (RFC 9110 section
// 6.6.1), and an invalid structured field counts as absent (RFC 9651 section 4.2).
// Every parser is total: any bytes give an answer, in time linear in their length
// and within a fixed number of allocations.
//
// It reads no clock, keeps no state, does no I/O and owns nothing: times are
// arguments, and results share the strings and bytes they were given. All
// functions are safe for concurrent use.
//
// It does not know keys, stores or connections, and does not interpret bodies:
// whether a body is whole, and joining the bytes of parts, is for others. Pragma
// means nothing to it.
package rfc9111
