package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// originServer is the origin of the pages, in this process; it works only while
// the cache is being filled.
type originServer struct {
	server  http.Server
	address string
	done    chan error
}

func startOrigin() (*originServer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the origin: %w", err)
	}
	bodies := allBodies()
	fields, fresh := responseFields(), map[string][]byte{}
	for _, size := range freshSizes() {
		fresh[strconv.Itoa(size)] = pages(size)[0].body
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if rest, is := strings.CutPrefix(r.URL.Path, freshPath); is {
			size, _, _ := strings.Cut(rest, "/")
			body, ok = fresh[size]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		for _, f := range fields {
			w.Header().Set(f[0], f[1])
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}
	o := &originServer{address: ln.Addr().String(), done: make(chan error, 1)}
	o.server.Handler = http.HandlerFunc(handler)
	o.server.ReadHeaderTimeout = 10 * time.Second
	go func() { o.done <- o.server.Serve(ln) }()
	return o, nil
}

// Close ends the origin with its connections and waits for it.
func (o *originServer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if o.server.Shutdown(ctx) != nil {
		_ = o.server.Close()
	}
	if err := <-o.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("origin: %w", err)
	}
	return nil
}
