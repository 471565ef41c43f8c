package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	bodyBufferBytes = 1 << 20
	originStopWait  = 5 * time.Second
	// lastModified is the same for all objects; only the ETag tells them apart.
	lastModified = "Mon, 01 Jan 2024 00:00:00 GMT"
)

// origin serves the objects of a trace on a loopback port and counts what it
// serves. Its counts are independent of the proxy's.
type origin struct {
	addr         string
	ln           net.Listener
	server       *fasthttp.Server
	served       chan error
	objects      []object
	index        map[string]uint32 // keys are targets
	body         []byte            // random bytes that every body is cut from
	cacheControl string
	noStoreOver  int64 // bytes; 0 = no limit

	// The counts may be read while requests run. A reader then sees only some of the
	// requests in flight.
	requests, bytes, unknown  atomic.Int64
	oversized, oversizedBytes atomic.Int64 // for objects over noStoreOver
}

// startOrigin serves the objects of t until Close. If noStoreOver is above 0 it tells
// nginx, which has no limit of its own, not to store larger objects.
func startOrigin(t *replay, maxAge time.Duration, seed uint64, noStoreOver int64) (*origin, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the origin: %w", err)
	}
	o := &origin{
		addr:         ln.Addr().String(),
		ln:           ln,
		served:       make(chan error, 1),
		objects:      t.objects,
		index:        make(map[string]uint32, len(t.objects)),
		body:         make([]byte, bodyBufferBytes),
		cacheControl: "max-age=" + strconv.FormatInt(int64(maxAge/time.Second), 10),
		noStoreOver:  noStoreOver,
	}
	for i := range t.objects {
		o.index[t.objects[i].target] = uint32(i)
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	_, _ = rand.NewChaCha8(key).Read(o.body) // never fails
	o.server = &fasthttp.Server{
		Handler:                      o.handle,
		NoDefaultServerHeader:        true,
		DisablePreParseMultipartForm: true,
		ReadBufferSize:               16 << 10,
		CloseOnShutdown:              true,
	}
	go func() { o.served <- o.server.Serve(ln) }()
	return o, nil
}

// Close ends the server and waits for it. It leaves connections that are still busy
// after originStopWait open until the process ends.
func (o *origin) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), originStopWait)
	defer cancel()
	err := o.server.ShutdownWithContext(ctx)
	// Shutdown knows the listener only after Serve has run; a second close is harmless.
	_ = o.ln.Close()
	if err = errors.Join(err, <-o.served); err != nil {
		return fmt.Errorf("stop the origin: %w", err)
	}
	return nil
}

func (o *origin) handle(ctx *fasthttp.RequestCtx) {
	o.requests.Add(1)
	i, ok := o.index[string(ctx.RequestURI())]
	if !ok || !ctx.IsGet() {
		o.unknown.Add(1)
		ctx.Error("no such object", fasthttp.StatusNotFound)
		return
	}
	h := &ctx.Response.Header
	tag := etag(i, o.objects[i].bytes)
	h.Set(fasthttp.HeaderETag, tag)
	h.Set(fasthttp.HeaderLastModified, lastModified)
	h.Set(fasthttp.HeaderCacheControl, o.cacheControl)
	if string(ctx.Request.Header.Peek(fasthttp.HeaderIfNoneMatch)) == tag {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	ctx.SetContentType("application/octet-stream")
	o.respond(ctx, i)
}

func (o *origin) respond(ctx *fasthttp.RequestCtx, i uint32) {
	size := o.objects[i].bytes
	if o.noStoreOver > 0 && size > o.noStoreOver {
		ctx.Response.Header.Set("X-Accel-Expires", "0") // nginx does not forward this field
		o.oversized.Add(1)
		o.oversizedBytes.Add(size)
	}
	from := int(i) * 64 % (bodyBufferBytes / 2)
	if size <= int64(len(o.body)-from) {
		o.bytes.Add(size)
		ctx.Response.SetBodyRaw(o.body[from : from+int(size)])
		return
	}
	ctx.SetBodyStream(&bodyReader{origin: o, at: from, left: size}, int(size))
}

// etag returns the ETag of object i, from its number and size. A response with another
// ETag is another object's response.
func etag(i uint32, bytes int64) string {
	return `"` + strconv.FormatUint(uint64(i), 16) + "-" + strconv.FormatInt(bytes, 16) + `"`
}

// bodyReader repeats the origin's random bytes up to any length, without a copy in
// memory.
type bodyReader struct {
	origin *origin
	at     int
	left   int64
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.left)], r.origin.body[r.at:])
	r.at = (r.at + n) % len(r.origin.body)
	r.left -= int64(n)
	r.origin.bytes.Add(int64(n))
	return n, nil
}
