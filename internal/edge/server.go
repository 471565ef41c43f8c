package edge

import (
	"net"
	"net/http"
	"slices"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/front/http1"
	"edgeproxy/internal/front/listen"
)

// newServer returns the HTTP/1 server of one data listener.
func (e *Edge) newServer(d *dataListener) *http1.Server {
	limits := &e.config.Limits
	return http1.New(http1.Options{
		Engine:      d.proxy,
		HeaderBytes: int(limits.HeaderBytes), HeaderTimeout: limits.HeaderTimeout, KeepaliveTimeout: limits.KeepaliveTimeout,
		WriteIdleTimeout: writeIdleTimeout(e.config),
		// The listener's limiter bounds connections. It frees a slot a moment before this
		// server does, so this bound is twice as high.
		Connections: 2 * e.connectionLimit,
		State:       func(c net.Conn, s http.ConnState) { d.state(c, s) },
		Place:       e.placeOf,
		Panics:      e.panics, Log: e.log,
	})
}

// writeIdleTimeout bounds one write to a client. It is 0 if the kernel drops the connections of stalled clients
// on every listener.
func writeIdleTimeout(c *config.Config) time.Duration {
	if listen.KernelDropsStalled && !slices.ContainsFunc(c.Listen, func(l config.Listen) bool { return l.Socket() }) {
		return 0
	}
	return c.Limits.WriteIdleTimeout
}
