package edge

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

// maxPageBytes bounds an error page. It stays in memory as long as its route is in force.
const maxPageBytes = 256 << 10

// pageTypes are the Content-Types of pages by file extension.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	".json": "application/json", ".xml": "application/xml", ".svg": "image/svg+xml",
}

// errorPages reads the error pages of a route, nil if there are none. read caches pages by path across routes. The error is
// that of the first page that cannot be read.
func errorPages(r *config.Route, read map[string]*proxy.ErrorPage) (*proxy.ErrorPages, error) {
	if len(r.ErrorPages) == 0 {
		return nil, nil //nolint:nilnil // the default texts are used
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
		return nil, fmt.Errorf("must be a file whose name ends in %s", strings.Join(slices.Sorted(maps.Keys(pageTypes)), ", "))
	}
	data, err := readRegular(path) // its bound is above maxPageBytes
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // the setting shows the path
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("must be a file that can be read: %w", err)
	case len(data) > maxPageBytes:
		return nil, fmt.Errorf("must be a file of at most %s", config.Size(maxPageBytes))
	}
	return &proxy.ErrorPage{Type: kind, Body: data}, nil
}

// pageFaults checks the error pages of all routes.
func pageFaults(c *config.Config) (faults config.Errors) {
	checked := map[string]error{} // errors by file, as in accessFaults
	for i := range c.Routes {
		pages := c.Routes[i].ErrorPages
		for _, status := range slices.Sorted(maps.Keys(pages)) {
			err, known := checked[pages[status]]
			if !known {
				_, err = readPage(pages[status])
				checked[pages[status]] = err
			}
			if err != nil {
				faults = append(faults, c.Fault(c.Given(c.Routes[i].Path()+".error_pages."+status, "error_pages."+status), err.Error()))
			}
		}
	}
	return faults.Unique()
}
