package origin

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// wantServers compares how many servers a scrape shows of each origin and state.
func wantServers(t *testing.T, g prometheus.Gatherer, want map[string]float64) {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "edgeproxy_origin_servers" {
			continue
		}
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue()
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// No metric told that one server of several was out. Each origin has every state, so that
// a sum is the number of its servers.
func TestServersAreCountedByState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &checked{status: "200"}
		o, k := startClusterOf(t, Options{
			Settings: Settings{Ejection: ejecting(false), Health: Health{Path: "/health", Interval: time.Hour, Unhealthy: 1}},
		}, 3, once, bad.play, once, once)
		single, _ := startCluster(t, Options{Name: "one"}, once)
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(NewCollector(func() []Stats {
			now := time.Now()
			return []Stats{o.Stats(now), single.Stats(now)}
		}))
		want := func(up, ejected, down, drained float64) {
			t.Helper()
			synctest.Wait()
			wantServers(t, registry, map[string]float64{
				"edgeproxy_origin_servers app up": up, "edgeproxy_origin_servers app ejected": ejected, "edgeproxy_origin_servers app down": down, "edgeproxy_origin_servers app drained": drained,
				"edgeproxy_origin_servers one up": 1, "edgeproxy_origin_servers one ejected": 0, "edgeproxy_origin_servers one down": 0, "edgeproxy_origin_servers one drained": 0,
			})
		}
		want(4, 0, 0, 0)
		bad.set("503")
		time.Sleep(time.Hour)
		want(3, 0, 1, 0)
		k.set("a:80", nil)
		for range 9 {
			wantBody(t, o, get("/"), "ok")
		}
		want(2, 1, 1, 0)
		time.Sleep(10 * time.Second)
		k.set("a:80", once)
		for range 3 {
			wantBody(t, o, get("/"), "ok") // the trial among them
		}
		want(3, 0, 1, 0)
		if n := o.Drain("c:80", true); n != 1 {
			t.Errorf("got %d servers of the name drained, want 1", n)
		}
		want(2, 0, 1, 1)
	})
}

// A reload may leave no origin, or another one.
func TestOriginsThatAreNotShownHaveNoServers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	var shown []Stats
	registry.MustRegister(NewCollector(func() []Stats { return shown }))
	wantServers(t, registry, map[string]float64{})
	shown = []Stats{{Name: "next", Servers: []ServerStats{{Address: "127.0.0.1:9"}}}}
	wantServers(t, registry, map[string]float64{
		"edgeproxy_origin_servers next up": 1, "edgeproxy_origin_servers next ejected": 0, "edgeproxy_origin_servers next down": 0, "edgeproxy_origin_servers next drained": 0,
	})
}
