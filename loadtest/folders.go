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

// makeFolders creates home below files, named after the server, the cache below memory ("" is
// home), and the subfolders inHome. The caller closes the result, also after an error.
func makeFolders(server, files, memory string, inHome ...string) (f folders, err error) {
	wrap := func(err error) error { return fmt.Errorf("make a folder for %s: %w", server, err) }
	if f.home, err = os.MkdirTemp(files, server+"-"); err != nil {
		return f, wrap(err)
	}
	if memory == "" {
		memory = f.home
	}
	if f.cache, err = os.MkdirTemp(memory, "edgeproxy-loadtest-"); err != nil {
		return f, wrap(err)
	}
	for _, name := range inHome {
		if err := os.Mkdir(f.path(name), 0o700); err != nil {
			return f, wrap(err)
		}
	}
	return f, nil
}

func (f folders) path(name string) string { return filepath.Join(f.home, name) }

// write creates files in home: names and their contents.
func (f folders) write(files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("configure a server: %w", err)
		}
	}
	return nil
}

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
