// Package message says what a client asks and what it is given, in no version's own words.
//
// A front reads requests of one version of HTTP and writes its answers. The engine
// (internal/proxy) decides what the answers are. The two share the types of this package and
// nothing else: the engine knows no server library, and a front no caching.
//
// The order of a request is: the front fills a Request and calls Begin. Where that returns
// nil, the Answer is complete, and nobody had to be waited for. Otherwise the front calls
// Finish of what it returned, in any goroutine, and has the answer then. It sends the head, then
// the content, and calls Close of the answer, sent or not.
package message
