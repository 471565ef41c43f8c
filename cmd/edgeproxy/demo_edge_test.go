package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/demo"
)

func TestDemoProxiesDifferInTheirPolicyOnly(t *testing.T) {
	folder := t.TempDir()
	settings := func(p policy.Policy) *config.Config {
		t.Helper()
		c, err := demoConfig("127.0.0.1:9", folder, p, freeAddresses())
		if err != nil {
			t.Fatal(err)
		}
		if c.Routes[0].Admission.Policy != p {
			t.Errorf("got the policy %s, want %s", c.Routes[0].Admission.Policy, p)
		}
		// What the demo has changed must pass the checks as well.
		if err := c.Override(config.Flags{Policy: policy.SecondHit.String()}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		return c
	}
	secondHit, always := settings(policy.SecondHit), settings(policy.Always)
	if diff := cmp.Diff(secondHit, always, cmpopts.IgnoreUnexported(config.Config{}, config.Route{})); diff != "" {
		t.Errorf("the settings differ in more than the policy (-second-hit +always):\n%s", diff)
	}
}

func TestDemoEdgeKeepsTheAddressThatItGets(t *testing.T) {
	e, notes, err := startDemoEdge("127.0.0.1:9", t.TempDir(), policy.Always, freeAddresses(), newLog(config.Log{}, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop(context.Background())
	if len(notes) > 0 {
		t.Errorf("got the notes %q, want none: nothing was taken", notes)
	}
	if e.Address() == freeAddress || e.Admin() == freeAddress || e.Address() == e.Admin() {
		t.Errorf("got the addresses %s and %s, want two with their ports", e.Address(), e.Admin())
	}
	got, err := e.Counts()
	if want := (demo.Counts{MaxBytes: int64(demoCacheBytes), MaxDiskBytes: int64(demoDiskBytes)}); err != nil || got != want {
		t.Errorf("got %+v, %v before the first request, want %+v", got, err, want)
	}
}

func TestDemoEdgeFailsWithTheCause(t *testing.T) {
	f := func(name string, at demoAddresses, want string) {
		t.Helper()
		e, _, err := startDemoEdge("127.0.0.1:9", t.TempDir(), policy.SecondHit, at, newLog(config.Log{}, io.Discard))
		if err == nil {
			e.Stop(context.Background())
			t.Fatalf("%s: started at %s, want an error", name, e.Address())
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
	// 192.0.2.0/24 is nobody's (RFC 5737).
	f("not our address", demoAddresses{data: "192.0.2.1:0", admin: freeAddress}, "192.0.2.1")
	f("not on loopback", demoAddresses{data: freeAddress, admin: "192.0.2.1:0"}, "loopback")
	noGoroutineLeft(t)
}

func TestOnlyATakenAddressIsReplaced(t *testing.T) {
	taken := func(address string) error {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return &net.OpError{Op: "listen", Net: "tcp", Addr: tcp, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	f := func(name string, at demoAddresses, err error, want demoAddresses, replaced bool) {
		t.Helper()
		if got := at.replace(err); got != replaced || at != want {
			t.Errorf("%s: got %v and %v, want %v and %v", name, got, at, replaced, want)
		}
	}
	const data, admin = "127.0.0.1:1001", "127.0.0.1:1002"
	both := demoAddresses{data, admin}
	f("data", both, taken(data), demoAddresses{freeAddress, admin}, true)
	f("admin", both, taken(admin), demoAddresses{data, freeAddress}, true)
	f("another", both, taken("127.0.0.1:1003"), both, false)
	f("no port left", freeAddresses(), taken(freeAddress), freeAddresses(), false)
	f("not permitted", both, &net.OpError{Op: "listen", Err: syscall.EACCES}, both, false)
	f("no address", both, &net.OpError{Op: "listen", Err: syscall.EADDRINUSE}, both, false)
}

func TestCountsReportMetricsThatCannotBeRead(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(brokenCollector{})
	if _, _, err := originCounts(r); err == nil || !strings.Contains(err.Error(), "gather the metrics") {
		t.Errorf("got %v, want what could not be gathered", err)
	}
}

// brokenCollector has a metric that cannot be read.
type brokenCollector struct{}

func (brokenCollector) desc() *prometheus.Desc {
	return prometheus.NewDesc("broken", "Never read.", nil, nil)
}

func (c brokenCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc() }

func (c brokenCollector) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(c.desc(), errors.New("broken"))
}
