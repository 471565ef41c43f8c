package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"edgeproxy/internal/lab/peers"
	"edgeproxy/internal/lab/process"
)

// trafficServer is one Apache Traffic Server whose plugin cache_promote stores on the
// second request. Its access log has the result of each request, and whether it was stored.
type trafficServer struct {
	*process.Process
	listen  string
	folders folders
	access  *accessLog
	origin  *origin
}

// minTrafficBytes is the smallest cache. With a smaller one Traffic Server 9.2 ends with
// a segmentation fault, because its table of stripes has a slot for every 8 MiB.
const minTrafficBytes = 8 << 20

var errTrafficBytes = errors.New("version 9.2 takes no less than 8 MiB")

// errNoPlugin is a Traffic Server without the plugin that holds back.
var errNoPlugin = errors.New("its plugin cache_promote is missing")

// trafficConfig is what differs between Traffic Server runs.
type trafficConfig struct {
	maxBytes       int64
	maxObjectBytes int64
	memory         string // a folder in memory for the cache; "" = none
}

// cache_promote stores at this many requests, and remembers this many URLs, which is
// its default.
const (
	promoteHits    = 2
	promoteBuckets = 1000
)

// trafficRecords are the settings that differ from those of all Traffic Servers.
const trafficRecords = `CONFIG proxy.config.cache.max_doc_size INT %d
CONFIG proxy.config.log.logging_enabled INT 3
CONFIG proxy.config.log.max_secs_per_buffer INT 1
CONFIG proxy.config.log.periodic_tasks_interval INT 1
CONFIG proxy.config.log.rolling_enabled INT 0
`

const trafficLogging = `logging:
  formats:
  - name: replay
    format: '%<crc> %<pssc> %<pscl> %<cwr> %<sssc> %<sscl>'
  logs:
  - filename: access
    format: replay
    mode: ascii
`

// findTrafficServer returns the path of a Traffic Server that has the plugin.
func findTrafficServer(name string) (string, error) {
	program, err := peers.Find(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(peers.Modules(program), "cache_promote.so")); err != nil {
		return "", fmt.Errorf("%s: %w", program, errNoPlugin)
	}
	return program, nil
}

// startTrafficServer starts the program on a free port, with files below files.
func startTrafficServer(ctx context.Context, program, files string, c trafficConfig, o *origin) (*trafficServer, error) {
	return process.OnFreePorts(func(listen, _ string) (*trafficServer, error) {
		folders, err := makeFolders("trafficserver", files, c.memory)
		if err != nil {
			return nil, err
		}
		t := &trafficServer{listen: listen, folders: folders, origin: o}
		if t.Process, err = c.peer(program, listen, o.addr, folders).Start(); err != nil {
			return nil, errors.Join(err, folders.Close())
		}
		return t, t.AwaitListener(ctx, listen)
	})
}

// peer returns a Traffic Server with its files in these folders.
func (c trafficConfig) peer(program, listen, origin string, f folders) peers.TrafficServer {
	return peers.TrafficServer{
		Program: program, Dir: f.home, Cache: f.cache, CacheBytes: c.maxBytes, Listen: listen, Origin: origin,
		Plugins: fmt.Sprintf("@plugin=cache_promote.so @pparam=--policy=lru @pparam=--hits=%d @pparam=--buckets=%d", promoteHits, promoteBuckets),
		Records: fmt.Sprintf(trafficRecords, c.maxObjectBytes), Files: map[string]string{"logging.yaml": trafficLogging},
	}
}

func (t *trafficServer) address() string { return t.listen }

// Close ends the process and removes its files.
func (t *trafficServer) Close() error {
	errs := []error{t.Process.Close()}
	if t.access != nil {
		errs = append(errs, t.access.Close())
	}
	return errors.Join(append(errs, t.folders.Close())...)
}

// scrape reads the log, which is up to two seconds late and exists from the first
// request on. A fetch that was not written was held back, unless it was larger than
// the run stores.
func (t *trafficServer) scrape(context.Context) (c counts, err error) {
	if t.access == nil {
		t.access, err = openAccessLog(t.folders.path("log/access.log"), (*counts).addTrafficLine)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil:
		c, err = t.access.read()
	}
	if err != nil {
		return counts{}, err
	}
	c.evictionsUnknown = true // it overwrites the oldest data, and counts no objects
	c.heldBack = c.originRequests - c.writes - t.origin.oversized.Load()
	c.heldBackBytes = c.originBytes - c.writeBytes - t.origin.oversizedBytes.Load()
	return c, nil
}

// trafficVersion returns the program's name and version, or only its name if the version is unknown.
func trafficVersion(ctx context.Context, path string) string {
	out := versionOf(ctx, path, "--version")
	if _, rest, ok := strings.Cut(out, "Traffic Server "); ok {
		if v, _, ok := strings.Cut(rest, " "); ok {
			return "Traffic Server/" + v
		}
	}
	return "Traffic Server"
}
