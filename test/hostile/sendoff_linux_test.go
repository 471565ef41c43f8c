package hostile

import (
	"net"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/test/testkit"
)

// sendOff ends what is sent on c, and waits until the kernel of the other side knows it: a peek
// at the connection then finds the end. On a busy machine that can
// take a while, even on the loopback.
func sendOff(c *net.TCPConn) {
	if c.CloseWrite() != nil {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	testkit.ComesTrue(func() bool {
		known := true
		_ = raw.Control(func(fd uintptr) {
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			known = err != nil || info.State != unix.BPF_TCP_FIN_WAIT1
		})
		return known
	})
}
