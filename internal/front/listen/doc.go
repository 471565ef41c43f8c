// Package listen opens the addresses that serve clients.
//
// It answers one question: how do clients' connections come in?
//
// They come over TCP or through a socket in the file system. The socket that listens is
// opened here, or inherited from the program that started the process (such as systemd), so
// that a restart refuses nobody. The kernel is asked to end TCP connections of stalled
// clients.
//
// An accepted connection is the bare *net.TCPConn or *net.UnixConn, since only on that
// fasthttp sends a large body by writev. If a load balancer passes connections on by the
// PROXY protocol, its header is read first, and Peers remembers the address in it.
//
// Accepting never waits for a client. If there are too many connections, ConnLimiter and Secure
// choose which ones are closed. A connection is silent until its client has sent something. Of too many silent
// ones of a client the oldest is closed: a flood then does not lock out who comes from its address.
package listen
