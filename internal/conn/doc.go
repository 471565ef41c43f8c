// Package conn holds a client's connection as the kernel sees it: how fast it takes bytes, whether anybody is still
// there, and system calls that Go's own would make dearer.
package conn
