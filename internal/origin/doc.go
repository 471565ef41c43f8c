// Package origin talks HTTP/1.1, or HTTP/2, to the servers of one origin.
//
// It answers one question: what does this origin say to this request, and is
// what arrived provably the whole of it? A request goes out byte for byte as
// given. What comes in is framed strictly: a response that two readers could
// understand differently is refused, not repaired.
//
// The laws:
//
//   - A Body ends with io.EOF only where its framing says so (Content-Length
//     reached, or final chunk and trailer section read), or, without framing,
//     where the origin closed. Every other end is an error.
//   - A connection serves one request at a time. It is used again only when the
//     request was sent whole, the response was read to its framed end, both
//     sides allow it and nothing lies unread on it. After a body that the origin
//     may have left unread it is not: see Request.mayGoUnread.
//   - TLS is verified unless the operator said otherwise, and a body that only the
//     end of the connection ends is whole only where TLS was closed by its alert.
//   - Every wait has a limit: connecting with the TLS handshake, queueing, the
//     head, each read of a body, each write.
//   - Interim responses are passed on while the final one is awaited, within
//     limits of number and bytes, and are never part of it. Further ones are
//     dropped, within limits of bytes and time: many of them are no failure.
//   - A request is sent once more only where that does no harm: no server can have got
//     it, or its method is safe (retry.go). Nothing is sent behind a part of an answer.
//   - A 101 counts only as the answer to an Upgrade, where it names no protocol that
//     was not asked for, and has no body: then the connection is the caller's.
//   - A server may be a name that stands for several, which come and go (members.go). One that goes
//     gets no new request, and its connections end with those that they carry.
//   - One queue is for all servers of an origin, each of which has a limit of its
//     own. Which server is next is the room balance's to say.
//
// A slot is the right to have one connection to a server. A turn sends a request, waits, and
// reads the first bytes of the response in one call of RawConn.Read (0074).
//
// HTTP/2 is that of golang.org/x/net, by net/http, on connections that are made here (h2conns.go). A head
// that it returns is checked as a head of HTTP/1.1 is, and what it would leave out of one before that (h2heads.go). A slot is then the right to have one request under
// way, which shares its connection (stream.go). The laws hold for its stream: a body is whole only if the
// server has ended the stream, a time limit ends only the stream, and a request that the server has not
// processed may be sent once more, whatever its method.
//
// It does not follow redirects, decode contents or keep cookies, and does not strip
// hop-by-hop fields: the caller knows which ones it may pass on. The same holds for
// trailers, which are never merged into a header.
package origin
