package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// trafficServer is one Apache Traffic Server whose plugin cache_promote stores on the
// second request. Its access log has the result of each request, and whether it was stored.
type trafficServer struct {
	*process
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

// trafficProgram is an installed Traffic Server.
type trafficProgram struct {
	path    string // of traffic_server
	plugins string // the folder with cache_promote.so
}

// findTrafficServer returns the given program, or else the one on PATH, and its plugins.
// They are where Debian's package has them, or below the program's prefix.
func findTrafficServer(given string) (trafficProgram, error) {
	var p trafficProgram
	var err error
	if given == "" {
		given = "traffic_server"
	}
	if p.path, err = exec.LookPath(given); err != nil {
		return p, err
	}
	if p.path, err = filepath.Abs(p.path); err != nil {
		return p, err
	}
	prefix := filepath.Dir(filepath.Dir(p.path))
	for _, dir := range [...]string{"lib/trafficserver/modules", "libexec/trafficserver"} {
		p.plugins = filepath.Join(prefix, dir)
		if _, err := os.Stat(filepath.Join(p.plugins, "cache_promote.so")); err == nil {
			return p, nil
		}
	}
	return p, fmt.Errorf("%s: %w", p.path, errNoPlugin)
}

// startTrafficServer starts the program on a free port, with files below files.
func startTrafficServer(ctx context.Context, program trafficProgram, files string, c trafficConfig, o *origin) (*trafficServer, error) {
	c.origin, c.plugins = o.addr, program.plugins
	return startOnFreePorts(func(listen, _ string) (*trafficServer, error) {
		c.listen = listen
		folders, err := prepareTrafficServer(files, c)
		if err != nil {
			return nil, err
		}
		t := &trafficServer{listen: listen, folders: folders, origin: o}
		cmd := exec.Command(program.path, "--run-root="+folders.path(trafficRoot))
		cmd.Dir = folders.home
		if t.process, err = launch("traffic_server", cmd, syscall.SIGTERM, syscall.SIGKILL); err != nil {
			return nil, errors.Join(err, folders.Close())
		}
		return t, t.begin(ctx)
	})
}

// begin waits until it accepts connections.
func (t *trafficServer) begin(ctx context.Context) error {
	return t.await(ctx, func(ctx context.Context) bool {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", t.listen)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func (t *trafficServer) address() string { return t.listen }

// Close ends the process and removes its files.
func (t *trafficServer) Close() error {
	errs := []error{t.process.Close()}
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
		t.access, err = openAccessLog(t.folders.path(trafficLog), (*counts).addTrafficLine)
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
