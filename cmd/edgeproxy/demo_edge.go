package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/lab/demo"
)

// The settings of the demo's proxies that differ from the defaults: small memory and disk tiers, so
// that both evict within a minute, a window to match, and a short drain.
const (
	demoCacheBytes = 8 * config.MiB
	demoDiskBytes  = 32 * config.MiB
	// demoWindowKeys is twice the number of objects that fit on the disk. A longer window
	// would admit again what the cache has just evicted.
	demoWindowKeys    = 4000
	demoInflightBytes = 16 * config.MiB
	demoDrainTimeout  = 2 * time.Second
)

// freeAddress lets the system choose the port.
const freeAddress = "127.0.0.1:0"

// demoAddresses are where a proxy of the demo listens.
type demoAddresses struct{ data, admin string }

// defaultAddresses are those of edgeproxy serve.
func defaultAddresses() demoAddresses {
	c := config.Default()
	return demoAddresses{data: c.Listen[0].Address, admin: c.Admin.Address}
}

func freeAddresses() demoAddresses { return demoAddresses{data: freeAddress, admin: freeAddress} }

// demoEdge is a running proxy as the demo wants it.
type demoEdge struct{ *edge.Edge }

var _ demo.Proxy = demoEdge{}

// startDemoEdge starts a proxy before origin, with its disk in a folder of its own below folder. It replaces an address in use
// by a free one, once for each address; notes say so.
func startDemoEdge(origin, folder string, policy policy.Policy, at demoAddresses, log *slog.Logger) (e demoEdge, notes []string, err error) {
	wanted := at
	for {
		c, err := demoConfig(origin, filepath.Join(folder, policy.String()), policy, at)
		if err != nil {
			return demoEdge{}, nil, err
		}
		e.Edge, err = listenDemo(c, log)
		if err == nil {
			break
		}
		if !at.replace(err) {
			return demoEdge{}, nil, err
		}
	}
	e.Start()
	if at.data != wanted.data {
		notes = append(notes, takenNote(wanted.data, "the proxy", e.Address()))
	}
	if at.admin != wanted.admin {
		notes = append(notes, takenNote(wanted.admin, "its admin listener", e.Admin()))
	}
	return e, notes, nil
}

// replace replaces the address that err says is in use by a free one. It
// reports false if err says something else.
func (at *demoAddresses) replace(err error) bool {
	var failed *net.OpError
	if !errors.Is(err, syscall.EADDRINUSE) || !errors.As(err, &failed) || failed.Addr == nil {
		return false
	}
	switch failed.Addr.String() {
	case freeAddress: // there is no free port at all
		return false
	case at.data:
		at.data = freeAddress
	case at.admin:
		at.admin = freeAddress
	default:
		return false
	}
	return true
}

func takenNote(taken, what, instead string) string {
	return fmt.Sprintf("%s is taken, so %s is at %s.", taken, what, instead)
}

// demoConfig returns the configuration of a start without a file, with the
// demo's settings.
func demoConfig(origin, disk string, policy policy.Policy, at demoAddresses) (*config.Config, error) {
	c, err := config.FromFlags(config.Flags{Origin: "http://" + origin, Listen: at.data, Admin: at.admin, Policy: policy.String()})
	if err != nil {
		return nil, fmt.Errorf("configure: %w", err)
	}
	c.Cache.Memory.MaxBytes, c.Cache.Memory.MaxObjectBytes = demoCacheBytes, demo.MaxObjectBytes
	c.Cache.Disk = config.Disk{Paths: []string{disk}, MaxBytes: demoDiskBytes, MaxObjectBytes: demo.MaxObjectBytes}
	c.Admission.SecondHit.Capacity = demoWindowKeys
	c.Admission.SecondHit.RotateEvery = 0 // generations rotate by fill only
	c.Limits.InflightBytes = demoInflightBytes
	c.Shutdown.DrainTimeout = demoDrainTimeout
	return c, nil
}

// listenDemo builds a proxy and opens its addresses. After an error nothing of
// it is left.
func listenDemo(c *config.Config, log *slog.Logger) (*edge.Edge, error) {
	e, err := edge.New(c, log, edge.Options{Version: versionName(), Commit: commitName()})
	if err != nil {
		return nil, err
	}
	if err := e.Listen(); err != nil {
		e.Stop(context.Background())
		return nil, err
	}
	return e, nil
}

// Address returns where clients are served.
func (e demoEdge) Address() string { return e.Addresses()[0] }

// Admin returns where metrics and status are.
func (e demoEdge) Admin() string { return e.AdminAddress() }

// Counts reads the proxy's own counters. Admitted responses are on the disk; memory has the stage, and copies.
func (e demoEdge) Counts() (demo.Counts, error) {
	s := e.Status()
	requests := s.Requests.Totals
	c := demo.Counts{
		Requests: requests.Requests, Errors: requests.Results["error"],
		Hits:     requests.Results["hit"] + requests.Results["stale"] + requests.Results["revalidated"],
		HeldBack: requests.Fills.HeldBack, Regret: requests.Fills.Regret,
		MaxBytes: int64(demoCacheBytes), MaxDiskBytes: int64(demoDiskBytes),
	}
	if d := s.Cache.Disk; d != nil {
		c.Writes, c.WriteBytes, c.Evictions = d.Writes, d.WriteBytes, d.Evictions["capacity"]
		for _, dir := range d.Directories {
			c.DiskBytes += dir.DeviceBytes
		}
	}
	var err error
	c.OriginRequests, c.OriginBytes, err = originCounts(e.Metrics())
	return c, err
}

// originCounts reads counters that only the metrics have.
func originCounts(from prometheus.Gatherer) (requests, bytes int64, err error) {
	families, err := from.Gather()
	if err != nil {
		return 0, 0, fmt.Errorf("gather the metrics: %w", err)
	}
	for _, f := range families {
		var sum float64
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue()
		}
		switch f.GetName() {
		case "edgeproxy_origin_requests_total":
			requests = int64(sum)
		case "edgeproxy_origin_bytes_total":
			bytes = int64(sum)
		}
	}
	return requests, bytes, nil
}
