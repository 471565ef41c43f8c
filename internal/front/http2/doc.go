// Package http2 is the front of HTTP/2 (RFC 9113).
//
// It answers one question: what do the streams of this connection ask, and in which order is
// what they are given sent? The framer and HPACK are those of golang.org/x/net/http2. What a
// request means is the engine's to say (internal/http/message).
//
// A connection has two goroutines. One reads frames. It asks the engine (Begin), and most
// requests are answered by that. The other writes: heads first, then content by the priorities
// of RFC 9218, as far as the windows allow, and all that is ready in one write. A request that
// has to wait, or whose content is not in memory, has a goroutine of its own. All state of a
// connection and its streams is under one mutex. Nothing is read, written or called under it.
//
// One goroutine of the Server, the sweeper, looks at all connections at intervals. It finds clients
// that take too little, and waits that last too long. So a request needs no timer.
//
// Bounded for each connection are: streams; requests under way, including those that were reset;
// the bytes and the number of fields, compressed or not; content that nobody has read;
// frames that further no request, resets, and answers to control frames.
package http2
