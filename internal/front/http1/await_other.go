//go:build !unix

package http1

// awaiter is for sockets of Unix.
type awaiter struct{}

func newAwaiter(*conn) *awaiter { return nil }

func (*awaiter) await() (int, error) { panic("http1: no socket") }
