// Package rewrite replaces a prefix of the path between clients and an origin: clients ask for /api/x, the origin is asked for /v2/x.
//
// It answers one question: what is the origin asked for in place of this target, and where do clients find what the
// origin names in an answer?
//
// The law: the origin reads the rewritten target as the same path that the proxy has read, below the new prefix. A
// target that could lead out of it, or that can be read in two ways, is refused. What comes back names no host that the
// origin has not named, and a reference that cannot be translated stays as it is.
//
// The package knows neither routes nor messages: which route a URL leads to is a function that the caller hands over. It is
// bytes in, bytes out, keeps no state, and is safe for concurrent use.
package rewrite
