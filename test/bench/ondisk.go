package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// startDiskEdge starts edgeproxy with a disk behind the memory, under a name for its files. memory is the section of
// its file.
func (f *field) startDiskEdge(name, memory string) (*process, error) {
	path := filepath.Join(f.dir, name+".yaml")
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [\"http://%s\"]}}\n"+
		"admission: {policy: always}\ncache: {memory: {%s}, disk: {path: %q, max_bytes: 1GiB}}\n",
		f.origin.address, memory, filepath.Join(f.dir, name))
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		return nil, fmt.Errorf("write edgeproxy's file: %w", err)
	}
	return start("edgeproxy", edgeAddress, f.o.program, "serve", "-c", path)
}

// onDisk are the works where bodies lie in files: what it takes to store one, which is a miss that is stored less a
// miss that is not, and hits that the page cache has.
func (f *field) onDisk() (out []preparation) {
	for _, size := range freshSizes() {
		out = append(out, preparation{"storing " + sizeText(size) + " on a disk", func(context.Context) (work, error) { return f.storing(size) }})
	}
	for _, size := range []int{16 << 10, 256 << 10} {
		out = append(out, preparation{"hit of " + sizeText(size) + " on a disk", func(ctx context.Context) (work, error) { return f.hitsOf(ctx, size, f.diskCaches()) }})
	}
	return out
}

// storing is the work of storing size bytes.
func (f *field) storing(size int) (work, error) {
	stored := []server{{"edgeproxy", f.disk.address, f.disk.pid(), "; stored"}}
	plain := []server{{"edgeproxy", f.edge.address, f.edge.pid(), missMark}}
	if f.nginx != nil {
		stored = append(stored, server{"nginx", f.nginx.stores, f.nginx.pid(), ""})
		plain = append(plain, server{"nginx", f.nginx.plain, f.nginx.pid(), ""})
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

// diskCaches are the servers that answer from files.
func (f *field) diskCaches() []server {
	out := []server{{"edgeproxy", f.diskHits.address, f.diskHits.pid(), hitMark}}
	if f.nginx != nil {
		out = append(out, server{"nginx", f.nginx.hits, f.nginx.pid(), ""})
	}
	if f.varnishFile != nil {
		out = append(out, server{"Varnish, file", f.varnishFile.address, f.varnishFile.pid(), ""})
	}
	return out
}
