package edge

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
)

// TestReloadsBesideEverythingElse is for the race detector: requests, the status and the
// metrics go on beside reloads that ask for their turn at the same time, and a stop comes
// into the middle.
func TestReloadsBesideEverythingElse(t *testing.T) {
	certificate, key := certificateFiles(t)
	file := func(i int) string {
		return fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", trusted_proxies: [10.%d.0.0/16]}, {address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0", pprof: %v}
tls: {certificates: [%s{certificate: %q, key: %q}]}
origins: {app: {servers: [%q], max_connections: %d}}
admission: {policy: second-hit, warm_up_below: 0.%d}
`, i, i%2 == 0, []string{"", fmt.Sprintf("{certificate: %q, key: %q}, ", certificate, key)}[i%2], certificate, key, "http://127.0.0.1:9", i+1, i)
	}
	from := &Source{File: writeFile(t, "edge.yaml", file(0))}
	c, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := built(t, c, Options{Source: from, Level: &slog.LevelVar{}})
	if err := e.Listen(); err != nil {
		t.Fatal(err)
	}
	e.Start()
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			for range 10 {
				get(t, "http://"+e.Addresses()[0]+"/a")
				get(t, "http://"+e.AdminAddress()+[]string{"/status", "/metrics", "/readyz"}[n])
			}
		})
		all.Go(func() {
			for range 7 {
				if _, err := e.reloader.reload("test"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 7 {
		renameOver(t, from.File, file(i+1))
		_, _ = e.reloader.reload("test")
	}
	all.Wait()
	var late sync.WaitGroup
	late.Go(func() {
		for range 5 {
			_, _ = e.reloader.reload("test")
		}
	})
	e.Stop(t.Context())
	late.Wait()
	if _, err := e.reloader.reload("test"); err == nil {
		t.Error("a proxy that has stopped reloads")
	}
	e.ReopenLogs()
	e.Reload("test")
	if got := e.Status(); got.Ready {
		t.Error("a proxy that has stopped says that it is ready")
	}
	if _, err := e.Metrics().Gather(); err != nil {
		t.Errorf("metrics after the end: %v", err)
	}
	if last := e.now.Load().config; last.Origins[0].MaxConnections != 8 {
		t.Errorf("got max_connections %d, want 8 of the last file", last.Origins[0].MaxConnections)
	}
}
