package listen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"

	"edgeproxy/internal/conn/rescue"
)

// Options say how an address is opened.
type Options struct {
	// Address is HOST:PORT or unix:PATH. An empty host is every interface, port 0 any
	// free one; see Network.
	Address string
	// Mode is that of a socket in the file system; 0 is 0600.
	Mode fs.FileMode
	// WriteIdleTimeout is for how long a client may take nothing of what it is sent; see
	// KernelDropsStalled. Clients behind a socket in the file system are not watched.
	WriteIdleTimeout time.Duration
	// Listen opens the address in place of a socket; nil opens a socket.
	Listen func(address string) (net.Listener, error)
	// Inherited are the sockets that the process was started with; nil is none. One
	// with this address is taken instead of a new one.
	Inherited *Inherited
	// ConnLimiter bounds the connections of clients; nil does not. With Mute a refused client is
	// not told why: it expects TLS and could not read the answer.
	Limiter *ConnLimiter
	Mute    bool
	// Peers takes what the header of the PROXY protocol tells, with which every connection
	// then has to begin; nil is no such header.
	Peers *Peers
	// HeaderTimeout is how long such a header may take, MaxWaiting how many connections
	// may be without theirs. Both are for Peers.
	HeaderTimeout time.Duration
	MaxWaiting    int
	// Panics notes those that end a connection before it is accepted; nil notes none.
	Panics *rescue.Counter
	// Log may not be nil.
	Log *slog.Logger
}

// unixPrefix begins the address of a socket in the file system.
const unixPrefix = "unix:"

// Open opens an address. Its listener outlasts a lack of file descriptors. Its errors
// name the address.
func Open(ctx context.Context, o Options) (net.Listener, error) {
	ln, err := o.Inherited.take(o)
	if ln == nil && err == nil {
		if ln, err = open(ctx, o); err != nil {
			err = errors.Join(err, o.Inherited.Unused()) // one of these may be in the way: with a part of the address
		}
	}
	if err != nil {
		return nil, err
	}
	if o.Peers == nil {
		return newLimitedListener(ln, o.Limiter, !o.Mute, o.Log), nil
	}
	below := newLimitedListener(ln, nil, false, o.Log)
	below.spare = o.Limiter
	return newProxyListener(below, o), nil
}

func open(ctx context.Context, o Options) (net.Listener, error) {
	if o.Listen != nil {
		return o.Listen(o.Address)
	}
	if path, ok := strings.CutPrefix(o.Address, unixPrefix); ok {
		return listenUnix(ctx, path, cmp.Or(o.Mode, 0o600))
	}
	ln, err := listenTCP(ctx, o.Address, o.WriteIdleTimeout)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}
