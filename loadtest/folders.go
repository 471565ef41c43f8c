package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// folders are the folders that one baseline writes to. The cache is in memory if there
// is room: edgeproxy's is too, and on a disk that removes files slowly the cache would
// outgrow its size.
type folders struct {
	home, cache string
}

// makeFolders creates home below files, named after the server, and the cache below memory ("" is
// home). After an error it leaves nothing behind.
func makeFolders(server, files, memory string) (f folders, err error) {
	if f.home, err = os.MkdirTemp(files, server+"-"); err == nil {
		if memory == "" {
			memory = f.home
		}
		f.cache, err = os.MkdirTemp(memory, "edgeproxy-loadtest-")
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("make a folder for %s: %w", server, err), f.Close())
	}
	return f, err
}

func (f folders) path(name string) string { return filepath.Join(f.home, name) }

// Close removes the folders and their contents.
func (f folders) Close() error {
	var errs []error
	for _, dir := range [...]string{f.cache, f.home} {
		if dir != "" {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}
