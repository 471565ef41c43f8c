package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
)

// maxPageBytes is the longest page of an error: it lies in memory as long as its route is in force.
const maxPageBytes = 256 << 10

// pageTypes are the types of pages by how their files end.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	".json": "application/json", ".xml": "application/xml", ".svg": "image/svg+xml",
}

// errorPages reads the pages of a route, nil where there are none; read are those that were read for others. Its error is of
// the first that cannot be had.
func errorPages(r *config.Route, read map[string]*proxy.ErrorPage) (*proxy.ErrorPages, error) {
	if len(r.ErrorPages) == 0 {
		return nil, nil //nolint:nilnil // the usual texts are no error
	}
	out := &proxy.ErrorPages{ByStatus: map[int]*proxy.ErrorPage{}, ByClass: map[int]*proxy.ErrorPage{}, Intercept: r.InterceptErrors}
	for _, status := range slices.Sorted(maps.Keys(r.ErrorPages)) {
		path := r.ErrorPages[status]
		if read[path] == nil {
			page, err := readPage(path)
			if err != nil {
				return nil, err
			}
			read[path] = page
		}
		if code, err := strconv.Atoi(status); err == nil {
			out.ByStatus[code] = read[path]
		} else { // 4xx or 5xx
			out.ByClass[int(status[0]-'0')] = read[path]
		}
	}
	return out, nil
}

func readPage(path string) (*proxy.ErrorPage, error) {
	kind, known := pageTypes[strings.ToLower(filepath.Ext(path))]
	if !known {
		return nil, fmt.Errorf("want a file whose name ends in %s", strings.Join(slices.Sorted(maps.Keys(pageTypes)), ", "))
	}
	data, err := readRegular(path) // more of it than may be
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // the setting shows the path
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("want a file that can be read: %w", err)
	case len(data) > maxPageBytes:
		return nil, fmt.Errorf("want a file of at most %s", config.Size(maxPageBytes))
	}
	return &proxy.ErrorPage{Type: kind, Body: data}, nil
}

// pageFaults checks the pages of all routes.
func pageFaults(c *config.Config) (faults config.Errors) {
	for i, r := range c.Routes {
		for _, status := range slices.Sorted(maps.Keys(r.ErrorPages)) {
			if _, err := readPage(r.ErrorPages[status]); err != nil {
				faults = append(faults, c.Fault(c.Given(fmt.Sprintf("routes[%d].error_pages.%s", i, status), "error_pages."+status), err.Error()))
			}
		}
	}
	return withoutDuplicates(faults)
}
