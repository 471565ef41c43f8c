package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"edgeproxy/internal/cache/disk/device"
)

// files keeps each record in a file of its own and writes it through the page cache: to a temporary file, which is renamed when it is
// whole, two folders deep by its hash. That is how nginx's proxy_cache lays what it stores.
type files struct {
	dir     string
	wrote   atomic.Int64
	buffers chan []byte
}

func newFiles(dir string) (*files, error) {
	for n := range 4096 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("%x/%02x", n>>8, n&255)), 0o700); err != nil {
			return nil, err
		}
	}
	return &files{dir: dir, buffers: make(chan []byte, 2*readers)}, nil
}

func (f *files) path(n uint64) string {
	h := hash(n)
	return filepath.Join(f.dir, fmt.Sprintf("%x/%02x/%016x", h>>8&15, h&255, h))
}

func (f *files) put(n uint64, body []byte) error {
	path := f.path(n)
	if err := os.WriteFile(path+".tmp", body, 0o600); err != nil {
		return err
	}
	f.wrote.Add(int64(len(body)))
	return os.Rename(path+".tmp", path)
}

func (f *files) read(n uint64) bool {
	var b []byte
	select {
	case b = <-f.buffers:
	default:
		b = make([]byte, readBytes)
	}
	defer func() { f.buffers <- b }()
	file, err := os.Open(f.path(n))
	if err != nil {
		return false
	}
	_, err = io.ReadFull(file, b)
	return err == nil && file.Close() == nil
}

func (f *files) written() int64 { return f.wrote.Load() }

// forget has all files on the disk, and drops the page cache of those that are read.
func (f *files) forget(records uint64) error {
	syscall.Sync()
	d, err := device.OpenDir(f.dir, nil)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it was only read
	for n := range records {
		name, err := filepath.Rel(f.dir, f.path(n))
		if err != nil {
			return err
		}
		file, err := d.Open(name)
		if err != nil {
			return err
		}
		file.Forget()
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) close() {}
