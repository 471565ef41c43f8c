// Package purge remembers what was purged, so that nobody has to look for it.
//
// It answers one question: was this stored response invalidated since its fetch
// began? A purge writes one mark, whatever the number of stored responses: it
// takes the next number of a counter, the generation, and notes it for a URL, a
// prefix of URLs, a host, a tag or everything. A response is stored with the
// generation at the start of its fetch (Now). It is invalid if one of its marks
// has a higher one (Check). So a purge reaches a response wherever it is,
// also one that is still on its way from the origin.
//
// The law: nothing purged comes back. Once a purge has returned, no response
// whose fetch began before it is Valid, for ever, also if others purge at the same
// time. Where there is doubt or no more room, too much is purged:
//
//   - Hosts, URLs and tags are known by a seeded 64-bit hash. What shares a hash
//     is purged together.
//   - The tables are bounded. While there is little room, every purge says so
//     (WhenCrowded). The caller then compares all that is stored with the marks, forgets
//     what they have purged, and drops the marks (Settle). Where that is not done in time, a
//     full bucket of marks folds: its oldest mark becomes a floor, the generation that
//     every response of the bucket must be younger than. In a full list of prefixes the
//     oldest becomes a mark for all of its host.
//   - A response with too many tags belongs to every tag.
//
// A fold gives no response a better state: what takes the place of a mark has
// at least its generations and covers at least what it covered. It is there before the mark
// leaves, so a look-up that finds the mark gone finds what replaced it. And no mark reaches a
// response born after it, since a mark never gets a generation beyond its own.
//
// Once marks are gone, a response that was born before them may not be stored. A look-up
// during which they went has to be made again (Settled).
//
// The caller asks at every hit, and again when it stores, with the generation at
// the start of the fetch. A response that a validation renewed was born when the
// validation began. A request may follow a fetch in progress only if
// that was begun at the present generation: its tags are not known yet.
//
// A Table of New ends with the process. One of Open keeps its marks in a file, and with them the
// Identity of what is stored: the seeds of all hashes and where counters begin. The law holds
// over a restart for each purge that Keep has returned for: the file is a journal of checked
// records, synced before Keep returns and written anew when it grows. A response that
// survives a restart may be used if Identity.Knows says so of the Identity it was stored
// under, and then as far as Check says. See open.go for what a lost or damaged file means.
//
// The package parses no URL, removes nothing from a cache and knows no clock.
package purge
