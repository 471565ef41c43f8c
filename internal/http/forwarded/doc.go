// Package forwarded reads what proxies in front say of a request.
//
// It answers one question: which client, scheme and host do X-Forwarded-* and
// Forwarded (RFC 7239) name, as far as those who wrote them are trusted? And which other
// fields do origins believe?
//
// The law: each proxy vouches for the address it had the request from, and for
// nothing beyond. So lists are read from their end, and the first address that is
// not trusted is the client. What stands before it was written by that client.
// Reading stops as well at the first member that is malformed or names no address,
// and after as many as the caller has room for; the client is then the last address
// that was told.
//
// It also knows the fields by which a client could pass for such a proxy, or have an
// origin answer for another request than the one keyed: Overrides.
//
// It does not decide whether the peer is trusted to begin with, or what becomes of
// what it finds: scheme and host are bytes to check. Nothing here allocates but New.
package forwarded
