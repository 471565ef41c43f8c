// Package dashboard is the page at / of the admin listener: what /status, /events and /lookup say, for people.
//
// It answers one question: what does an operator see in a browser?
//
// The laws it keeps: the page is one document, without a build step, that holds no data and loads nothing else. Its
// Content-Security-Policy allows the scripts and styles it came with, by their digests, and requests to the listener it came from.
// What the listener says becomes text, never markup; Trusted Types make the browser refuse the rest. Each number has the place in
// /status where it comes from in its data-path, a JSON Pointer (RFC 6901), and is written with the unit that people read.
// Writes that were avoided stand beside what they cost at the origin, never alone.
//
// The curves are drawn by uPlot, which internal/ops/page has.
package dashboard
