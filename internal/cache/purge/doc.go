// Package purge records purges as marks, so that a purge need not search the cache.
//
// It answers one question: was this stored response invalidated since its fetch began? A purge writes one mark, whatever the
// number of stored responses. It takes the next number of a counter, the generation, and records it for a URL, a prefix of
// URLs, a host, a tag, a tag of one host or everything. A response is stored with the generation at the start of its fetch (Now): the
// generation it was born in. It is invalid if one of its marks has a higher one (Check). So a purge reaches a response
// wherever it is, even on its way from the origin.
//
// The rule: nothing purged comes back. Once a purge has returned, no response whose fetch began before it is ever Valid
// again, even if others purge at the same time. In case of doubt or lack of room, too much is purged:
//
//   - Hosts, URLs and tags are known by a seeded 64-bit hash. Names with equal hashes are purged together.
//   - The tables are bounded. While there is little room, every purge reports that (WhenCrowded). The caller then checks every stored
//     response against the marks, removes the purged ones, and drops the marks (Settle). If that is not done in time, a full bucket
//     of marks folds: its oldest mark becomes part of the floor, a generation that invalidates every older response of the bucket.
//     In a full list of prefixes the oldest prefix becomes a mark for its whole host.
//   - A response with too many tags belongs to every tag.
//
// A fold never makes a response more valid: the replacement of a mark has at least its generations and covers at least what
// it covered. The replacement is published before the mark is removed, so a look-up that no longer finds the mark finds the
// replacement. And no mark reaches a response born after it, as a mark never gets a generation beyond its own.
//
// Once marks are dropped, a response born before them may not be stored. A look-up during which marks were dropped has to be
// repeated (Settled).
//
// The caller calls Check at every hit, and again when it stores, with the generation at the start of the fetch. For a
// response that a validation renewed, that is the start of the validation. A request may join a fetch in progress only if
// the fetch was begun at the present generation: its tags are not known yet.
//
// A Table of New ends with the process. One of Open keeps its marks in a file, and with them the Identity of the stored
// responses: the seeds of all hashes and the first values of counters. For each purge that Keep has returned for, the rule
// holds over a restart. The file is a journal of checksummed records, synced before Keep returns and rewritten when it
// grows. A response that survives a restart may be used if Identity.Knows says so of the Identity it was stored under, and
// Check then decides. See open.go for a lost or damaged file, and last.go for one that has lost its end.
//
// The package parses no URL, removes nothing from a cache and knows no clock.
package purge
