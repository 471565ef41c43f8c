package pace

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Acknowledged says that the system tells what clients have acknowledged. Elsewhere a pace
// is measured by what the system has accepted from the program: see internal/proxy.
const Acknowledged = true

// queued returns what is not acknowledged, sent or not (SIOCOUTQ of tcp(7)).
func queued(c syscall.RawConn) (bytes int64, ok bool) {
	err := c.Control(func(fd uintptr) {
		n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		bytes, ok = int64(n), err == nil
	})
	return bytes, ok && err == nil
}

// acknowledged returns tcpi_bytes_acked (Linux 4.1) and tcpi_notsent_bytes (4.6).
func acknowledged(c syscall.RawConn) (q queue, ok bool) {
	err := c.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if ok = err == nil; ok {
			q.taken, q.unsent = int64(info.Bytes_acked), int64(info.Notsent_bytes)
		}
	})
	return q, ok && err == nil
}
