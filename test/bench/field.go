package main

import (
	"context"
	"fmt"
	"time"

	"edgeproxy/internal/lab/process"
)

// field has all servers of a comparison with the peers.
type field struct {
	*scene
	absent []string // peers that are not installed

	edge, stores    *process.Process // under second-hit, and under always
	secure          string           // edge's address for TLS
	disk, diskHits  *process.Process // under always with a disk, the second with a memory that takes none of the pages
	bare, bareProxy *process.Process
	nginx           *nginxPeer
	haproxy         *haproxyPeer
	varnish         *process.Process
	varnishFile     *process.Process // with its cache in a file
	traffic         *process.Process // Traffic Server, the same
}

// start starts everything that is installed. The peers' caches are in memory, or where a
// peer has files alone, in files.
func (f *field) start(ctx context.Context) (err error) {
	short, long, err := selfSigned(f.dir)
	if err != nil {
		return err
	}
	at, err := process.FreeAddresses(1)
	if err != nil {
		return err
	}
	f.secure = at[0]
	for _, s := range []struct {
		at    **process.Process
		start func() (*process.Process, error)
	}{
		{&f.edge, func() (*process.Process, error) {
			return f.scene.start(ctx, secureEdge("edgeproxy", f.secure, short, long))
		}},
		{&f.stores, func() (*process.Process, error) {
			return f.scene.start(ctx, edge{name: "stores", sections: "admission: {policy: always}"})
		}},
		{&f.disk, func() (*process.Process, error) { return f.scene.start(ctx, f.onDisk("disk", "")) }},
		{&f.diskHits, func() (*process.Process, error) { return f.startFullDisk(ctx, f.onDisk("disk-hits", noMemory)) }},
		{&f.bare, func() (*process.Process, error) { return f.startSelf(ctx, "bare handler", bareCommand) }},
		{&f.bareProxy, func() (*process.Process, error) {
			return f.startSelf(ctx, "bare proxy", bareProxyCommand, f.origin.address)
		}},
	} {
		if *s.at, err = s.start(); err != nil {
			return err
		}
	}
	if err := f.startPeers(ctx, short, long); err != nil {
		return err
	}
	return f.pin(f.servers()...)
}

// servers are the process ids of all that is compared.
func (f *field) servers() []int {
	pids := []int{f.edge.PID(), f.stores.PID(), f.disk.PID(), f.diskHits.PID(), f.bare.PID(), f.bareProxy.PID()}
	if f.nginx != nil {
		pids = append(pids, f.nginx.PID())
	}
	if f.haproxy != nil {
		pids = append(pids, f.haproxy.PID())
	}
	if f.varnish != nil {
		pids = append(pids, f.varnish.PID(), f.varnishFile.PID())
	}
	if f.traffic != nil {
		pids = append(pids, f.traffic.PID())
	}
	return pids
}

// secureEdge is an edgeproxy that listens for HTTPS, too, with these certificates.
func secureEdge(name, address string, certificates ...certified) edge {
	e := edge{name: name, listen: fmt.Sprintf(", {address: %q, tls: true}", address), sections: "tls: {certificates: ["}
	for _, c := range certificates {
		e.sections += fmt.Sprintf("{certificate: %q, key: %q}, ", c.certificate, c.key)
	}
	e.sections += "]}\n"
	return e
}

// works returns what is measured. Each work is made right before it is measured, with its caches
// filled: a server closes connections that have been idle for long.
func (f *field) works() []preparation {
	var out []preparation
	for _, size := range sizes() {
		out = append(out, preparation{"hit of " + sizeText(size), func(ctx context.Context) (work, error) { return f.hits(ctx, size, f.caches()) }})
	}
	plain, stored := f.proxies()
	out = append(out,
		preparation{"miss that is not stored, 1 KiB", func(context.Context) (work, error) { return f.misses(plain, freshSize) }},
		preparation{"miss that is stored, 1 KiB", func(ctx context.Context) (work, error) { return f.fullMisses(ctx, stored, freshSize) }})
	for _, size := range freshSizes() {
		out = append(out, preparation{"storing " + sizeText(size) + " on a disk", func(context.Context) (work, error) { return f.storing(size) }})
	}
	for _, size := range diskSizes() {
		out = append(out, preparation{comparison{size: size, onDisk: true}.name(), func(ctx context.Context) (work, error) { return f.hits(ctx, size, f.diskCaches()) }})
	}
	for _, w := range f.secured() {
		out = append(out, preparation{w.name, func(context.Context) (work, error) { return w, nil }})
	}
	return out
}

// diskSizes are the bodies that are measured on a disk: one that is read, and one that the system sends from its file.
func diskSizes() []int { return []int{16 << 10, 256 << 10} }

// fillBytes is how much is stored in a cache before a stored miss is measured, within a second for each round. It is at least what each of those in
// memory may have, so that something is evicted for each, as it is on all days but the first.
const fillBytes = 512 << 20

// fullMisses is the work of misses, in full caches. Those in files are not filled: their bound is of files, and to write so many takes minutes.
func (f *field) fullMisses(ctx context.Context, servers []server, size int) (work, error) {
	for _, s := range servers {
		if f.nginx != nil && s.pid == f.nginx.PID() || s.pid == f.bareProxy.PID() {
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
	return f.misses(servers, size) // new connections ask: old ones that have been idle for long are closed
}

// storing is the work of storing size bytes on a disk: a miss that is stored less a miss that is not.
func (f *field) storing(size int) (work, error) {
	stored := []server{serverOf(f.disk, storedMark)}
	plain := []server{serverOf(f.edge, missMark)}
	if f.nginx != nil {
		stored = append(stored, f.nginx.at(f.nginx.stores))
		plain = append(plain, f.nginx.at(f.nginx.plain))
	}
	w, err := f.misses(stored, size)
	if err != nil {
		return w, err
	}
	without, err := f.misses(plain, size)
	for i := range without.contenders {
		w.contenders[i].less = &without.contenders[i]
	}
	return w, err
}

// caches are the servers that answer from a cache, and the bare handler.
func (f *field) caches() []server {
	out := []server{serverOf(f.edge, hitMark), serverOf(f.bare, "")}
	if f.nginx != nil {
		out = append(out, f.nginx.at(f.nginx.hits))
	}
	if f.haproxy != nil {
		out = append(out, f.haproxy.at(f.haproxy.caches))
	}
	if f.varnish != nil {
		out = append(out, serverOf(f.varnish, ""))
	}
	return out
}

// proxies are the servers that fetch without storing, and those that store what they fetch.
func (f *field) proxies() (plain, stored []server) {
	bare := serverOf(f.bareProxy, "")
	// Some new keys seem sighted before, as often as the filter's fp_rate says, and are stored.
	plain = []server{serverOf(f.edge, missMark), bare}
	stored = []server{serverOf(f.stores, storedMark), bare}
	if f.nginx != nil {
		twice := f.nginx.at(f.nginx.hits)
		twice.name += ", min_uses 2"
		plain = append(plain, f.nginx.at(f.nginx.plain), twice)
		stored = append(stored, f.nginx.at(f.nginx.stores))
	}
	if f.haproxy != nil {
		plain = append(plain, f.haproxy.at(f.haproxy.plain))
		stored = append(stored, f.haproxy.at(f.haproxy.caches))
	}
	if f.varnish != nil {
		stored = append(stored, serverOf(f.varnish, ""))
	}
	return plain, stored
}

// diskCaches are the servers that answer from files.
func (f *field) diskCaches() []server {
	out := []server{serverOf(f.diskHits, hitMark)}
	if f.nginx != nil {
		out = append(out, f.nginx.at(f.nginx.hits))
	}
	if f.varnishFile != nil {
		file := serverOf(f.varnishFile, "")
		file.name += ", file"
		out = append(out, file)
	}
	if f.traffic != nil {
		out = append(out, serverOf(f.traffic, ""))
	}
	return out
}
