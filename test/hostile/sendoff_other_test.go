//go:build !linux

package hostile

import "net"

// sendOff ends what is sent on c.
func sendOff(c *net.TCPConn) { _ = c.CloseWrite() }
