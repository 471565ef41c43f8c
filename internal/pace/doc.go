// Package pace lets go of clients that hold up more than they take.
//
// It answers one question: which client is too slow, and which goes first? A Meter holds
// one client to a least rate, by the bytes that came or went while it was waited for.
// Nothing here decides what a rate is for, or tells a client why it was let go.
package pace
