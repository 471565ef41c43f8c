// Package pace lets go of clients that hold up more than they take.
//
// It answers one question: which client is too slow, and which goes first? A Meter holds
// one client to a least rate, by the bytes that came or went while it was waited for. A
// Watch does so for all connections that answers are sent on, by what their clients have
// acknowledged: no write needs a deadline for it, and an answer pays for nothing. Beyond the
// limit of what clients pin together (see internal/pinned) it ends the answers that are
// taken the slowest, of clients that pin more than their share.
//
// Nothing here tells a client why it was let go: its connection, or its stream of HTTP/2, is
// reset within the answer.
package pace
