package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// cacheControl outlives any usual run: the writes shown are due to admission
	// and eviction, not to expiry.
	cacheControl = "max-age=3600"
	lastModified = "Wed, 01 Jul 2015 00:00:00 GMT"
)

const (
	originReadTimeout  = 5 * time.Second
	originWriteTimeout = 30 * time.Second
	originIdleTimeout  = 2 * time.Minute // longer than a proxy keeps a connection
	originStopWait     = 2 * time.Second
)

// Origin is an origin server on a free port of the loopback interface. Whatever
// target it is asked for, it has an object there: text of a lognormal size, the
// same every time, with validators and a lifetime. It is safe for concurrent
// use.
type Origin struct {
	listener net.Listener
	server   *fasthttp.Server
	served   chan error
	text     []byte // every body is a part of it
}

// StartOrigin returns an origin that serves until Close. The error is that no
// port could be had.
func StartOrigin() (*Origin, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the origin: %w", err)
	}
	o := &Origin{listener: ln, served: make(chan error, 1), text: newText()}
	o.server = &fasthttp.Server{
		Handler:                      o.serve,
		NoDefaultServerHeader:        true,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		ReadBufferSize:               16 << 10, // the head of a proxy's request holds all of its client's
		ReadTimeout:                  originReadTimeout,
		WriteTimeout:                 originWriteTimeout,
		IdleTimeout:                  originIdleTimeout,
		Logger:                       silent{},
	}
	go func() { o.served <- o.server.Serve(ln) }()
	return o, nil
}

// Address returns HOST:PORT.
func (o *Origin) Address() string { return o.listener.Addr().String() }

// Close stops the server and waits for it. Connections that are busy after two
// seconds are left behind, which is the error; they end by their own timeouts.
// Close must be called once.
func (o *Origin) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), originStopWait)
	defer cancel()
	err := o.server.ShutdownWithContext(ctx)
	// Shutdown overlooks a listener that Serve has not got to yet.
	_ = o.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if err = errors.Join(err, <-o.served); err != nil {
		return fmt.Errorf("stop the origin: %w", err)
	}
	return nil
}

func (o *Origin) serve(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Response.Header.Set(fasthttp.HeaderAllow, "GET, HEAD")
		ctx.Error("this origin answers GET and HEAD only\n", fasthttp.StatusMethodNotAllowed)
		return
	}
	it := objectOf(ctx.RequestURI())
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderETag, it.etag())
	h.Set(fasthttp.HeaderLastModified, lastModified)
	h.Set(fasthttp.HeaderCacheControl, cacheControl)
	// A list of tags is not looked into: a whole answer is never wrong.
	if string(ctx.Request.Header.Peek(fasthttp.HeaderIfNoneMatch)) == it.etag() {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	ctx.SetContentType("text/plain; charset=utf-8")
	ctx.Response.SetBodyRaw(o.body(it))
}

// body returns the object's bytes. They begin at a place of the object's own, so
// that most objects of equal size differ.
func (o *Origin) body(it object) []byte {
	from := int(it.hash % uint64(len(o.text)-MaxObjectBytes+1))
	return o.text[from : from+it.bytes]
}

// newText is printable, for people who ask with curl.
func newText() []byte {
	line := []byte("An object of the embedded origin; its size and its bytes follow from its target alone.\n")
	return bytes.Repeat(line, MaxObjectBytes/len(line)+len(line))
}

// silent drops fasthttp's lines: they tell of clients that hung up.
type silent struct{}

// Printf implements fasthttp.Logger.
func (silent) Printf(string, ...any) {}
