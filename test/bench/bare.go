package main

import (
	"fmt"
	"io"
	"net"

	"github.com/valyala/fasthttp"
)

// serveBare serves the pages from a map until stdin ends, and says its address
// in one line on stdout. It is the least that a fasthttp program can do: no
// deadlines, no limits, no log, no metrics.
func serveBare(stdin io.Reader, stdout io.Writer) error {
	return serveFasthttp(bareHandler(), stdin, stdout)
}

func bareHandler() fasthttp.RequestHandler {
	bodies := allBodies()
	fields := responseFields()
	return func(ctx *fasthttp.RequestCtx) {
		body, ok := bodies[string(ctx.Path())]
		if !ok {
			ctx.SetStatusCode(fasthttp.StatusNotFound)
			return
		}
		for i := range fields {
			ctx.Response.Header.Set(fields[i][0], fields[i][1])
		}
		ctx.Response.SetBodyRaw(body)
	}
}

// serveBareProxy is serveBare for a proxy: fasthttp's client behind fasthttp's server, with one
// origin at address. It is the least that a proxy by fasthttp can do.
func serveBareProxy(address string, stdin io.Reader, stdout io.Writer) error {
	origin := &fasthttp.HostClient{Addr: address, MaxConns: 1024, NoDefaultUserAgentHeader: true}
	return serveFasthttp(func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.Del(fasthttp.HeaderConnection)
		if err := origin.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
		}
	}, stdin, stdout)
}

// serveFasthttp serves until stdin ends, and says its address in one line on stdout.
func serveFasthttp(handler fasthttp.RequestHandler, stdin io.Reader, stdout io.Writer) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s := &fasthttp.Server{Handler: handler, NoDefaultServerHeader: true}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	if _, err := fmt.Fprintln(stdout, ln.Addr()); err != nil {
		return fmt.Errorf("say the address: %w", err)
	}
	_, _ = io.Copy(io.Discard, stdin) // an error ends it as well
	if err := s.Shutdown(); err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return <-served
}
