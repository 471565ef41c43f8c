package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// diskEdge is edgeproxy with a disk behind the memory.
type diskEdge struct {
	program, origin string
	dir, name       string // where its files are, and what they are called
	memory          string // the section of its file
}

// noMemory is a memory that takes none of the pages that are asked for on a disk.
const noMemory = "max_object_bytes: 8KiB"

// start starts it with what its disk has.
func (d diskEdge) start() (*process, error) {
	return d.startWith(fmt.Sprintf("cache: {memory: {%s}, disk: {path: %q, max_bytes: 1GiB}}", d.memory, filepath.Join(d.dir, d.name)))
}

// startWith starts it with this section of its file in place of that for a disk. It stores every response that it may.
func (d diskEdge) startWith(cache string) (*process, error) {
	path := filepath.Join(d.dir, d.name+".yaml")
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [\"http://%s\"]}}\n"+
		"admission: {policy: always}\n%s\n", d.origin, cache)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		return nil, fmt.Errorf("write edgeproxy's file: %w", err)
	}
	return start("edgeproxy", edgeAddress, d.program, "serve", "-c", path)
}

// startFullDisk starts d with all pages of the works on its disk. What has just been stored may wait in memory to be written, so
// they are stored by a process before.
func startFullDisk(ctx context.Context, d diskEdge) (*process, error) {
	p, err := d.start()
	if err != nil {
		return nil, err
	}
	for _, size := range diskSizes() {
		err = errors.Join(err, warm(ctx, p.address, pages(size), hitMark))
	}
	if err = errors.Join(err, p.Close()); err != nil {
		return nil, err
	}
	return d.start()
}

// diskSizes are the bodies that are measured on a disk: one that is read, and one that the system sends from its file.
func diskSizes() []int { return []int{16 << 10, 256 << 10} }

// onDisk are the works where bodies lie in files: what it takes to store one, which is a miss that is stored less a
// miss that is not, and hits that the page cache has.
func (f *field) onDisk() (out []preparation) {
	for _, size := range freshSizes() {
		out = append(out, preparation{"storing " + sizeText(size) + " on a disk", func(context.Context) (work, error) { return f.storing(size) }})
	}
	for _, size := range diskSizes() {
		out = append(out, preparation{comparison{size: size, onDisk: true}.name(), func(ctx context.Context) (work, error) { return f.hitsOf(ctx, size, f.diskCaches()) }})
	}
	return out
}

func (f *field) diskEdge(name, memory string) diskEdge {
	return diskEdge{f.o.program, f.origin.address, f.dir, name, memory}
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
	if f.traffic != nil {
		out = append(out, server{"Traffic Server", f.traffic.address, f.traffic.pid(), ""})
	}
	return out
}
