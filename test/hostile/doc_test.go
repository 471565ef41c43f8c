// Package hostile answers one question: what becomes of requests and responses
// that mean harm?
//
// testdata holds cases: the bytes that a client writes, the bytes that the origin
// answers with, and what must come of it on both sides of the proxy and in its
// cache. language_test.go has the words. Every case is played on real sockets
// before an edge in this process, and again before the built program: alone, and
// behind a well-formed request and before another one on the same connection, so
// that a smuggled request would reach the origin, or its answer the next client.
//
// The law: a case says exactly which requests the origin gets, whole or in part,
// and what is stored. The origin reads strictly, and a byte that is no part of a
// request fails the case. Nothing here waits for time to pass, but for limits of
// the edge and for what is sent drop by drop.
package hostile
