package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// field has all servers of a comparison with the peers, and the origin behind them.
type field struct {
	o      options
	dir    string // for their files
	origin *originServer
	absent []string // peers that are not installed

	edge, stores    *process // by second-hit, and by always
	secure          string   // edge's address for TLS
	disk, diskHits  *process // by always, with a disk; with a memory that takes none of the pages
	bare, bareProxy *process
	nginx           *nginxPeer
	haproxy         *haproxyPeer
	varnish         *process
	varnishFile     *process // with its cache in a file
	traffic         *process // Traffic Server, the same
	closing         []func() error
}

// newField starts everything that is installed. The peers' caches are in memory, or where a
// peer has files alone, in files.
func newField(ctx context.Context, o options) (f *field, err error) {
	f = &field{o: o}
	if f.dir, err = os.MkdirTemp("", "edgeproxy-peers-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	f.closing = append(f.closing, func() error { return os.RemoveAll(f.dir) })
	if err := f.start(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *field) start(ctx context.Context) (err error) {
	if f.origin, err = startOrigin(); err != nil {
		return err
	}
	f.closing = append(f.closing, f.origin.Close)
	short, long, err := selfSigned(f.dir)
	if err != nil {
		return err
	}
	if f.secure, err = freeAddress(); err != nil {
		return err
	}
	for _, s := range []struct {
		at    **process
		start func() (*process, error)
	}{
		{&f.edge, func() (*process, error) { return f.startSecureEdge(short, long) }},
		{&f.stores, func() (*process, error) { return startEdge(f.o.program, f.origin.address, "--policy", "always") }},
		{&f.disk, func() (*process, error) { return f.diskEdge("disk", "").start() }},
		{&f.diskHits, func() (*process, error) {
			return startFullDisk(ctx, f.diskEdge("disk-hits", noMemory))
		}},
		{&f.bare, startBare},
		{&f.bareProxy, func() (*process, error) { return startBareProxy(f.origin.address) }},
	} {
		if *s.at, err = s.start(); err != nil {
			return err
		}
		f.closing = append(f.closing, (*s.at).Close)
	}
	if err := f.startPeers(short, long); err != nil {
		return err
	}
	unpin, err := pinServers(f.servers())
	if err != nil {
		return err
	}
	f.closing = append(f.closing, unpin)
	return nil
}

// servers are the process ids of all that is compared.
func (f *field) servers() []int {
	pids := []int{f.edge.pid(), f.stores.pid(), f.disk.pid(), f.diskHits.pid(), f.bare.pid(), f.bareProxy.pid()}
	if f.nginx != nil {
		pids = append(pids, f.nginx.pid())
	}
	if f.haproxy != nil {
		pids = append(pids, f.haproxy.pid())
	}
	if f.varnish != nil {
		pids = append(pids, f.varnish.pid(), f.varnishFile.pid())
	}
	if f.traffic != nil {
		pids = append(pids, f.traffic.pid())
	}
	return pids
}

// startSecureEdge starts edgeproxy by its defaults, with one address for HTTP and one for HTTPS.
func (f *field) startSecureEdge(short, long certified) (*process, error) {
	path := filepath.Join(f.dir, "edgeproxy.yaml")
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}, {address: %q, tls: true}]\nadmin: {address: \"127.0.0.1:0\"}\n"+
		"origins: {app: {servers: [\"http://%s\"]}}\n"+
		"tls: {certificates: [{certificate: %q, key: %q}, {certificate: %q, key: %q}]}\n",
		f.secure, f.origin.address, short.certificate, short.key, long.certificate, long.key)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		return nil, fmt.Errorf("write edgeproxy's file: %w", err)
	}
	return start("edgeproxy", edgeAddress, f.o.program, "serve", "-c", path)
}

// Close ends everything that was started, the newest first.
func (f *field) Close() error {
	var errs []error
	for i := range f.closing {
		errs = append(errs, f.closing[len(f.closing)-1-i]())
	}
	return errors.Join(errs...)
}

// works returns what is measured. Each work is made right before it is measured, with its caches
// filled: a server closes connections that have been idle for long.
func (f *field) works() []preparation {
	var out []preparation
	for _, size := range sizes() {
		out = append(out, preparation{"hit of " + sizeText(size), func(ctx context.Context) (work, error) { return f.hits(ctx, size) }})
	}
	plain, stored := f.proxies()
	out = append(out,
		preparation{"miss that is not stored, 1 KiB", func(context.Context) (work, error) { return f.misses(plain, freshSize) }},
		preparation{"miss that is stored, 1 KiB", func(ctx context.Context) (work, error) { return f.fullMisses(ctx, stored, freshSize) }})
	out = append(out, f.onDisk()...)
	for _, w := range f.secured() {
		out = append(out, preparation{w.name, func(context.Context) (work, error) { return w, nil }})
	}
	return out
}

// hits is the work of answering pages of one size from the cache.
func (f *field) hits(ctx context.Context, size int) (work, error) {
	return f.hitsOf(ctx, size, f.caches())
}

func (f *field) hitsOf(ctx context.Context, size int, servers []server) (work, error) {
	var w work
	for _, s := range servers {
		if err := warm(ctx, s.address, pages(size), s.mark); err != nil {
			return w, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for _, s := range servers {
		connected, err := f.o.dialWarm(&process{name: s.name, address: s.address}, size, s.mark)
		if err != nil {
			return w, err
		}
		f.add(&w, s, connected.clients)
	}
	return w, nil
}

// misses is the work of fetching size bytes that were never asked for.
func (f *field) misses(servers []server, size int) (work, error) {
	var w work
	for _, s := range servers {
		c, err := dial(s.address, f.o.connections, nil, wanted{size: size, mark: s.mark})
		if err != nil {
			return w, fmt.Errorf("%s: %w", s.name, err)
		}
		c.fresh = func() []byte { return freshPage(size).request(s.address) }
		f.add(&w, s, c)
	}
	return w, nil
}

// fillBytes is how much is stored in a cache before a stored miss is measured, within a second for each round. It is at least what each of those in
// memory may have, so that something is evicted for each, as it is on all days but the first.
const fillBytes = 512 << 20

// fullMisses is the work of misses, in full caches. Those in files are not filled: their bound is of files, and to write so many takes minutes.
func (f *field) fullMisses(ctx context.Context, servers []server, size int) (work, error) {
	for _, s := range servers {
		if f.nginx != nil && s.pid == f.nginx.pid() || s.pid == f.bareProxy.pid() {
			continue
		}
		w, err := f.misses([]server{s}, size)
		if err != nil {
			return w, err
		}
		end := time.Now().Add(time.Duration(f.o.rounds) * time.Second)
		for done := int64(0); done < fillBytes/int64(size) && time.Now().Before(end); {
			n, err := w.contenders[0].ask(ctx, f.o.roundTime)
			if err != nil {
				return w, fmt.Errorf("fill %s: %w", s.name, err)
			}
			done += n
		}
	}
	return f.misses(servers, size) // by new connections: those that have been idle for long are closed
}

// add makes s, asked by c, a contender of w.
func (f *field) add(w *work, s server, c *clients) {
	f.closing = append(f.closing, c.Close)
	w.contenders = append(w.contenders, contender{name: s.name, pid: s.pid, ask: func(_ context.Context, d time.Duration) (int64, error) { return c.ask(d) }})
}

// server is an address that one kind of work is asked for at.
type server struct {
	name, address string
	pid           int
	mark          string // in the head of every answer that counts
}

// caches are the servers that answer from a cache, and the bare handler.
func (f *field) caches() []server {
	out := []server{{"edgeproxy", f.edge.address, f.edge.pid(), hitMark}, {"bare handler", f.bare.address, f.bare.pid(), ""}}
	if f.nginx != nil {
		out = append(out, server{"nginx", f.nginx.hits, f.nginx.pid(), ""})
	}
	if f.haproxy != nil {
		out = append(out, server{"HAProxy", f.haproxy.caches, f.haproxy.pid(), ""})
	}
	if f.varnish != nil {
		out = append(out, server{"Varnish", f.varnish.address, f.varnish.pid(), ""})
	}
	return out
}

// proxies are the servers that fetch without storing, and those that store what they fetch.
func (f *field) proxies() (plain, stored []server) {
	bare := server{"bare proxy", f.bareProxy.address, f.bareProxy.pid(), ""}
	// Some new keys seem sighted before, as often as the filter's fp_rate says, and are stored.
	plain = []server{{"edgeproxy", f.edge.address, f.edge.pid(), missMark}, bare}
	stored = []server{{"edgeproxy", f.stores.address, f.stores.pid(), storedMark}, bare}
	if f.nginx != nil {
		plain = append(plain, server{"nginx", f.nginx.plain, f.nginx.pid(), ""}, server{"nginx, min_uses 2", f.nginx.hits, f.nginx.pid(), ""})
		stored = append(stored, server{"nginx", f.nginx.stores, f.nginx.pid(), ""})
	}
	if f.haproxy != nil {
		plain = append(plain, server{"HAProxy", f.haproxy.plain, f.haproxy.pid(), ""})
		stored = append(stored, server{"HAProxy", f.haproxy.caches, f.haproxy.pid(), ""})
	}
	if f.varnish != nil {
		stored = append(stored, server{"Varnish", f.varnish.address, f.varnish.pid(), ""})
	}
	return plain, stored
}
