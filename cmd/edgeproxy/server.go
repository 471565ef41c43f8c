package main

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/valyala/fasthttp"

	"edgeproxy/config"
	"edgeproxy/internal/listen"
	"edgeproxy/internal/proxy"
)

// writeBuffer holds a head and a small body, sent in one write; a larger body
// leaves by writev from where it is.
const writeBuffer = 8 << 10

// newServer returns the server of one data listener. It sets nothing on a response by itself:
// the origin's Date, Server and Content-Type are the origin's.
func newServer(c *config.Config, l *proxy.Listener, log *slog.Logger) *fasthttp.Server {
	s := &fasthttp.Server{
		Handler:       l.Serve,
		ErrorHandler:  l.Malformed,
		ExpectHandler: l.Expect,
		Logger:        quietLogger{log},

		NoDefaultServerHeader: true,
		NoDefaultDate:         true,
		NoDefaultContentType:  true,
		SecureErrorLogMessage: true,

		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		// Of a body of known length fasthttp reads up to this much, at most 8 KiB,
		// before the handler: one byte, so that limits.body_bytes, an origin's early
		// answer and limits.read_idle are there from the start. It limits nothing.
		MaxRequestBodySize: 1,
		CloseOnShutdown:    true,
		// Each answer is sent off by itself, also before a request that has come
		// already, and no connection that lies idle holds a write buffer: see
		// AnswersFlushed in options.go.
		ReduceMemoryUsage: true,

		ReadBufferSize:  int(c.Limits.HeaderBytes),
		WriteBufferSize: writeBuffer,
		ReadTimeout:     c.Limits.HeaderTimeout,
		IdleTimeout:     c.Limits.Keepalive,
		// Connections are bounded where they come in, and requests of HTTP/2 likewise. A
		// place there is free a moment before it is here.
		Concurrency:  2 * c.Limits.Connections,
		TCPKeepalive: true,
	}
	if !dropsStalled(c) {
		s.WriteTimeout = c.Limits.WriteIdle
	}
	return s
}

// quietLogger is fasthttp's: what a client can cause stays out of the log
// unless debugging.
type quietLogger struct{ log *slog.Logger }

// Printf takes fasthttp's own lines.
func (q quietLogger) Printf(format string, args ...any) {
	q.log.Debug("fasthttp", "message", fmt.Sprintf(format, args...))
}

// dropsStalled reports whether the kernel ends the connections of stalled clients, on
// every listener.
func dropsStalled(c *config.Config) bool {
	return listen.KernelDropsStalled && !slices.ContainsFunc(c.Listen, func(l config.Listen) bool { return l.Socket() })
}
