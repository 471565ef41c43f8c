package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// The pauses between two tries of a socket whose backlog is full. Each is twice the one before.
const (
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
)

// socket connects to the socket at path. Where its backlog is full Linux says EAGAIN at once, and tells nobody when
// there is room. TCP waits then, and so does this: it tries again until ctx ends, after which the error is that of ctx.
func (d *Dialer) socket(ctx context.Context, network, path string) (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		c, err := d.options.Connect(ctx, network, path)
		if !errors.Is(err, syscall.EAGAIN) {
			return c, err
		}
		room := time.NewTimer(pause)
		select {
		case <-room.C:
		case <-ctx.Done():
			room.Stop()
			return nil, fmt.Errorf("the listen backlog of %s is full: %w", path, context.Cause(ctx))
		}
	}
}
