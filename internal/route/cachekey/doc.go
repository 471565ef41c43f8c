// Package cachekey builds cache keys by the rules of a route.
//
// Query rules remove parameters from the target and may sort the rest (AppendTarget).
// Header and cookie rules add parts behind the URL (AppendSelectors), as Vary does, but
// before the response is known.
//
// A whole key is, in this order:
//
//	URL part    scheme, host and the target of AppendTarget in its normal form, each behind its length
//	selectors   of AppendSelectors; nothing on a route without header and cookie rules
//	variant     what the fields named by Vary select, once a response has said so
//
// The laws:
//
//   - A key can be read back: different parts never give the same bytes, whatever the
//     client wrote into them. Selectors begin with a byte with which no variant
//     begins, and have the names of the rules in them. So a route with header or cookie
//     rules has no key in common with one that has others or none.
//   - A parameter that is not keyed is not forwarded: only the result of AppendTarget may
//     reach the origin. If the origin answered by a parameter that the key ignores, one
//     client could choose what all others get. So the result is the target from then on. A
//     request for that URL on a route without rules has the same key and response.
//   - Cookies that can be read in two ways are keyed as whole lines. Such a request should
//     bypass the cache: see AppendSelectors and Ambiguous.
//   - Time is linear in the length of the request (sorting: n log n). No key is longer than
//     the request, except a few bytes for each part and the names in the rules.
//
// Purges and sightings use the URL part. So a purge of a URL, which must use AppendTarget
// too, finds it under all selectors. A second request for a URL is its second sighting,
// whatever its header selects. For a purge by prefix, see Prefix.
//
// Header fields and cookies that no rule names are forwarded and not keyed, as on
// any route: an origin that answers by them must say so (Vary, private, no-store). A
// field that imitates a keyed one must not be forwarded: see Imitates.
//
// The package parses no URL, reads no whole request and keeps no state. It is
// bytes in, bytes out, and safe for concurrent use.
package cachekey
