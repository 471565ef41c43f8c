//go:build unix && !linux

package nonblock

// Read is ReadTold.
func Read(fd int, p []byte) (n int, err error) { return ReadTold(fd, p) }
