// Package pace ends the connections of clients that are too slow.
//
// It answers one question: which client is too slow, and which goes first? A Meter holds
// one client to a least rate, by the bytes that came or went while it was waited for. A
// Watch does so for all connections that answers are sent on. It asks the system what their
// clients have acknowledged, so no write needs a deadline and a hit costs nothing more. It
// also bounds the bodies that the cache has given up and only slow clients keep in memory. These are
// pinned (see internal/conn/pinned). Beyond the limit it ends the slowest answers, of clients that pin
// more than their share.
//
// A client is not told why: its connection, or its stream of HTTP/2, is reset in the middle
// of the answer.
package pace
