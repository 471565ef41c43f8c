// Package cachekey applies the rules of a route for what forms the cache's key.
//
// It answers one question: which parts of a request tell the responses of this
// route apart? Query rules take parameters out of the target and may sort the
// rest (AppendTarget). Header and cookie rules add parts behind the URL
// (AppendSelectors), as Vary does, but before the response is known.
//
// A whole key is, in this order:
//
//	URL part    scheme, host and the target of AppendTarget, each behind its length
//	selectors   of AppendSelectors; nothing on a route without header and cookie rules
//	variant     what the fields named by Vary select, once a response has said so
//
// The laws:
//
//   - A key can be read back: different parts never give the same bytes, whatever the
//     client wrote into them. Selectors begin with a byte with which no variant
//     begins, and have the names of the rules in them. So a route with header or cookie
//     rules has no key in common with one that has others or none.
//   - What is not keyed is not forwarded where it could matter. Of a target, only what
//     AppendTarget left may reach the origin: a parameter that is ignored for the
//     key, but answered by the origin, would let one client choose what all others
//     get. So the target is another URL from then on. A request for that URL on a route
//     without rules shares its key and means the same response.
//   - What can be read in two ways is keyed whole, and better passes the cache by: see
//     AppendSelectors and Ambiguous on cookies.
//   - All is linear in the length of the request (sorting: n log n), and no key is longer
//     than the request, but for a few bytes for each part and the names in the rules.
//
// Purges and sightings go by the URL part. So a purge of a URL, which has to pass
// AppendTarget too, finds it under all selectors, and a second request for a URL
// is its second sighting whatever its header selects. For a purge by prefix, see
// Prefix.
//
// Header fields and cookies that no rule names are forwarded and not keyed, as on
// any route: an origin that answers by them must say so (Vary, private, no-store). A
// field that imitates a keyed one must not be forwarded: see Imitates.
//
// The package parses no URL, reads no whole request and keeps no state. It is
// bytes in, bytes out, and safe for concurrent use.
package cachekey
