// Package tunnel copies bytes between a client and an origin that have switched to another
// protocol.
//
// It answers one question: how do bytes get both ways, and when does that end? It does not
// read them. Each direction holds one buffer full at most: a slow reader slows the sender.
// Each write has a limit of its time, and both directions together have one on silence.
//
// An end of one direction is passed on to the other side, and the other direction goes on.
// A failure of either ends both.
//
// The package knows neither requests nor limits on how many tunnels there are. A Set knows
// those that are open, so that a process which stops can end them and wait for them.
package tunnel
