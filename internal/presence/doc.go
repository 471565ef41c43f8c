// Package presence notices clients that leave while they wait.
//
// It answers one question: is the client of this request still there? A server that is
// busy answering does not read, so nobody sees that a client has gone. A Watch asks the
// system about the connections of all who wait, with one poll(2) every 50 ms and none
// while nobody waits; so a request that is answered sooner costs an entry in a list.
//
// A client is gone when its connection was reset, or when it has ended its side and kept
// quiet since: most that do so have closed both sides, which looks the same from here, and
// the ones that have not have a quarter of a second for an answer to begin, and go on
// getting it for as long as there is something to send. A connection within the process
// says by itself when its client has left, by OnLeave.
package presence
