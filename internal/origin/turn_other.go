//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package origin

import "net"

// turn is not to be had here.
type turn struct {
	begun bool
	sent  error
}

func newTurn(net.Conn) *turn { return nil }

func (*turn) run(_, _ []byte) (n int, err error) { return 0, nil }

func (*turn) readNow(_ []byte) (n int, err error) { return 0, errCutOff }
