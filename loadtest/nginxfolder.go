package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The names of nginx's files in its folder.
const (
	nginxFile  = "nginx.conf"
	nginxLog   = "access.log"
	nginxMarks = "marks"
	nginxTemp  = "temp"
)

// nginxFolders are all that one nginx writes to. The cache is in memory where that
// has room: edgeproxy's is, and a disk that is slow to remove files lets the cache
// grow over its size.
type nginxFolders struct {
	home, cache string
}

// prepareNginx makes the folders, home below files, and writes the configuration.
func prepareNginx(files string, c nginxConfig) (f nginxFolders, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make a folder for nginx: %w", errors.Join(err, f.Close()))
		}
	}()
	if f.home, err = os.MkdirTemp(files, "nginx-"); err != nil {
		return f, err
	}
	memory := c.memory
	if memory == "" {
		memory = f.home
	}
	if f.cache, err = os.MkdirTemp(memory, "edgeproxy-loadtest-"); err != nil {
		return f, err
	}
	for _, sub := range [...]string{nginxMarks, nginxTemp} {
		if err := os.Mkdir(filepath.Join(f.home, sub), 0o700); err != nil {
			return f, err
		}
	}
	c.cache = f.cache
	return f, os.WriteFile(f.path(nginxFile), c.text(), 0o600)
}

func (f nginxFolders) path(name string) string { return filepath.Join(f.home, name) }

// Close removes the folders with all that is in them.
func (f nginxFolders) Close() error {
	var errs []error
	for _, dir := range [...]string{f.cache, f.home} {
		if dir != "" {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}
