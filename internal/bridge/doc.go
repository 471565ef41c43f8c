// Package bridge lets clients of HTTP/2 in.
//
// It answers one question: what does this stream ask, in HTTP/1.1? Net/http's server
// speaks HTTP/2 (RFC 9113) with the client; each of its requests is written, as
// HTTP/1.1, to a connection within the process that the server for HTTP/1.1 serves like
// any other: the same gate, the same limits, the same cache. So nothing behind knows of
// HTTP/2, and nothing in front of it is trusted: what would not be one request on the
// wire is refused here. Trailers pass in both directions.
//
// A stream costs two goroutines and the copying of its body. A client that takes
// nothing for WriteIdle loses its stream, one that resets it ends the request.
package bridge
