// Package running lists the requests in progress.
//
// It answers: which requests are in progress, since when, and what do they wait for?
//
// A request that is answered at once is never in the list. The others are added and removed under the lock of one
// of several shards. What is shown of a request is a copy, so a list never reads memory that the request uses. The
// package reads no clock.
package running
