//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package origin

import "net"

// turn is not to be had here.
type turn struct{}

func newTurn(net.Conn) *turn { return nil }

func (*turn) run([]byte) (begun bool, err error) { return false, nil }
