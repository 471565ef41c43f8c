// Package listen opens the addresses that serve clients.
//
// It answers one question: how do clients' connections come in? Over TCP, with a kernel
// that ends those of stalled clients, or through a socket in the file system; opened
// here, or taken over from whoever started the process, so that a restart refuses
// nobody. However it comes, a connection is handed on as the bare one that it is, for
// only on that a large body leaves by writev. Where a load balancer passes connections on
// by the PROXY protocol, its header is read off first, and Peers remembers what it told.
// Accepting waits for nobody: where there are too many, Crowd and Secure choose who goes.
package listen
