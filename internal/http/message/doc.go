// Package message has the types for requests and answers, independent of the HTTP version.
//
// A front reads requests of one version of HTTP and writes its answers. The engine
// (internal/proxy) makes the answers. Fronts and engine share the types of this package and
// nothing else: the engine knows no server library, and a front knows no caching.
//
// A request goes through these steps. The front fills a Request and calls Begin. If Begin
// returns nil, the Answer is complete; Begin has not waited for anything. Otherwise the front
// calls Finish of the returned Pending, in any goroutine, and when it returns the Answer is
// complete. The front sends the head, then the content. It calls Close of the answer, even if it
// could not send it.
package message
