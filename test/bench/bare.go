package main

import (
	"io"

	"github.com/valyala/fasthttp"
)

// serveBare serves the pages from a map until stdin ends, and says its address
// in one line on stdout. It is the least that a fasthttp program can do: no
// deadlines, no limits, no log, no metrics.
func serveBare(stdin io.Reader, stdout io.Writer) error {
	return serveFasthttp(bareHandler(), stdin, stdout)
}

func bareHandler() fasthttp.RequestHandler {
	bodies := map[string][]byte{}
	for _, size := range sizes() {
		for _, p := range pages(size) {
			bodies[p.path] = p.body
		}
	}
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
