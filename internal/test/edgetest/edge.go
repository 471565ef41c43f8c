package edgetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"edgeproxy/config"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/testkit"
)

// Node is the name of an edge whose YAML gives it none, in Via and Cache-Status.
const Node = "edgeproxy"

// Addresses of an edge without sockets, where its YAML says no other.
const (
	clientsAddress = "192.0.2.1:80"
	adminAddress   = "127.0.0.1:9980"
)

// Options are what the rig puts around the operator's YAML. The zero Options is a proxy on real sockets.
type Options struct {
	// Origin is the address of the origin, HOST:PORT. It is the one server of an origin called app, if the YAML names no origins,
	// and takes the place of {origin} in the YAML.
	Origin string
	// Seams stand in for sockets. Then the proxy may run in a bubble of testing/synctest.
	Seams edge.Seams
	// Disk adds a disk tier below {dir}, unless the YAML has one. It is for all edges where EDGEPROXY_TEST_DISK is 1.
	Disk bool
	// Adjust changes what was read of the YAML, at the start and at each reload, to values that no file may have; nil changes nothing.
	Adjust func(*config.Config)
	// Log gets the log of the proxy; nil drops it.
	Log io.Writer
}

// Edge is a running proxy. Its fields are for reading.
type Edge struct {
	*edge.Edge
	Address string // the address of its first listener for clients
	Proxy   *proxy.Proxy
	Store   *cache.Store

	options Options
	dir     string // has the file, and the disk if there is one
}

// Start runs a proxy of the operator's YAML until the end of the test, composed as the command does it. What the YAML does not say
// is the shipped default, but for what a test cannot do without: it listens at a free port of the loopback address, or at the
// address 192.0.2.1:80 of the seam, and so does admin; and its origin is that of o. In the YAML {dir} is a folder of this edge,
// for files that settings name. A fault of the YAML fails the test at once.
func Start(tb testing.TB, yaml string, o Options) *Edge {
	tb.Helper()
	return StartIn(tb, tb.TempDir(), yaml, o)
}

// StartIn is Start with {dir} in this folder, which outlives the edge.
func StartIn(tb testing.TB, dir, yaml string, o Options) *Edge {
	tb.Helper()
	o.Disk = o.Disk || os.Getenv("EDGEPROXY_TEST_DISK") == "1"
	e := &Edge{options: o, dir: dir}
	c, err := e.load(yaml)
	must(tb, err)
	must(tb, edge.Validate(c))
	log := slog.New(slog.DiscardHandler)
	if o.Log != nil {
		log = slog.New(slog.NewTextHandler(o.Log, nil))
	}
	o.Seams.DiskWait = cmp.Or(o.Seams.DiskWait, testkit.Patience) // a machine that does much else is no slow device
	e.Edge, err = edge.New(c, log, edge.Options{Version: "test", Seams: o.Seams})
	must(tb, err)
	tb.Cleanup(e.Stop)
	must(tb, e.Listen())
	e.Start()
	e.Address, e.Proxy, e.Store = e.Addresses()[0], e.Edge.Proxy(), e.Edge.Store()
	if r, ok := e.Metrics().(*prometheus.Registry); ok {
		// Tests ask for metrics again and again, and what this collector reads of /proc takes longer than all the others.
		r.Unregister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	return e
}

// given finds the sections that the YAML has.
var given = regexp.MustCompile(`(?m)^(listen|admin|origins) *:`)

// load reads the YAML as the command reads a file, with flags for what the YAML does not have.
func (e *Edge) load(yaml string) (*config.Config, error) {
	yaml = strings.ReplaceAll(strings.ReplaceAll(yaml, "{origin}", e.options.Origin), "{dir}", e.dir)
	flags := config.Flags{Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Origin: "http://" + cmp.Or(e.options.Origin, "127.0.0.1:9")}
	if e.options.Seams.Listen != nil {
		flags.Listen, flags.Admin = clientsAddress, adminAddress
	}
	for _, section := range given.FindAllStringSubmatch(yaml, -1) {
		switch section[1] {
		case "listen":
			flags.Listen = ""
		case "admin":
			flags.Admin = ""
		case "origins":
			flags.Origin = ""
		}
	}
	if e.options.Disk {
		var err error
		if yaml, err = withDisk(yaml, filepath.Join(e.dir, "disk")); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(e.dir, "edge.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		return nil, err
	}
	c, err := config.LoadWith(file, flags)
	if err == nil && e.options.Adjust != nil {
		e.options.Adjust(c)
	}
	return c, err
}

// Reload makes the YAML the configuration in force, as a reload of the command does.
func (e *Edge) Reload(yaml string) (*edge.Reloaded, error) {
	c, err := e.load(yaml)
	if err != nil {
		return nil, err
	}
	return e.Apply(c)
}

// Stop ends the proxy as the command does at a signal. The end of the test calls it too.
func (e *Edge) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e.Edge.Stop(ctx)
}

// CopiesBytes returns what the copies of large bodies take that are sent by sendfile.
func (e *Edge) CopiesBytes(tb testing.TB) int64 {
	tb.Helper()
	return int64(e.Metric(tb, "edgeproxy_cache_copies_bytes"))
}

// Metric returns the value of the metric called name whose labels are exactly
// these, each as name=value; 0 where there is none.
func (e *Edge) Metric(tb testing.TB, name string, labels ...string) float64 {
	tb.Helper()
	families, err := e.Metrics().Gather()
	must(tb, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			have := map[string]bool{}
			for _, l := range m.GetLabel() {
				have[l.GetName()+"="+l.GetValue()] = true
			}
			if same(have, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

func same(have map[string]bool, labels []string) bool {
	for _, l := range labels {
		if !have[l] {
			return false
		}
	}
	return len(have) == len(labels)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(fmt.Sprint(err))
	}
}
