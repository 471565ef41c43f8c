// Package presence notices clients that leave while they wait.
//
// It answers one question: is the client of this request still there? A server that is
// busy answering does not read, so nobody sees that a client has gone. A Watch asks the
// system about the connections of all clients that wait, with one poll(2) every 50 ms, and
// none while no client waits. So a request that is answered sooner costs an entry in a list.
//
// A client is gone when its connection was reset. It is also taken for gone when it has ended
// its side (FIN) and nothing was sent to it for a quarter of a second since. Most such clients
// have closed both sides; the system cannot tell which. One that has only ended its own side
// still gets an answer that begins in that time, to its end.
//
// A connection within the process says by itself when its client has left, by OnLeave.
package presence
