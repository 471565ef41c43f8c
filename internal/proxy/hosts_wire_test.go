package proxy_test

import (
	"fmt"
	"testing"

	"edgeproxy/internal/ops/series"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/routing"
	edgetest "edgeproxy/internal/test/oldrig"
)

// counted has requests counted by these hosts; a label that begins with a * is a pattern.
func counted(hosts ...string) func(*proxy.Live) {
	return func(l *proxy.Live) {
		l.CountedHosts = nil
		for _, label := range hosts {
			h := proxy.CountedHost{Label: label, Host: routing.Host{Name: label}}
			switch {
			case label[0] == '*':
				h.Host = routing.Host{Name: label[2:], Subdomains: true}
			case label == "a.example:8080":
				h.Host = routing.Host{Name: "a.example", Port: 8080}
			}
			l.CountedHosts = append(l.CountedHosts, h)
		}
	}
}

func TestHostsThatAreNamedHaveSeries(t *testing.T) {
	e, _ := startBefore(t, edgetest.Options{Rule: always()}, answersAll)
	of := func(host, result string) float64 {
		return e.Metric(t, "edgeproxy_host_requests_total", "host="+host, "result="+result)
	}
	ask(t, e, hosted("a.example", "/before"))
	if n := of("other", "miss"); n != 0 {
		t.Errorf("got %v requests counted unasked", n)
	}
	mustSwap(t, e, counted("a.example:8080", "a.example", "x.b.example", "*.b.example"))
	for range 3 {
		ask(t, e, hosted("a.example", "/"))
	}
	for _, host := range []string{"a.example:8080", "x.b.example", "y.b.example", "z.y.b.example", "b.example", "c.example", "not a host"} {
		ask(t, e, hosted(host, "/"))
	}
	want := map[[2]string]float64{
		{"a.example", "miss"}: 1, {"a.example", "hit"}: 2, {"a.example:8080", "miss"}: 1, {"x.b.example", "miss"}: 1, {"*.b.example", "miss"}: 2,
		{"other", "miss"}: 2, {"other", "error"}: 1,
	}
	eventually(t, fmt.Sprint(want), func() bool {
		for at, n := range want {
			if of(at[0], at[1]) != n {
				return false
			}
		}
		return true
	})
	if n := e.Metric(t, "edgeproxy_host_response_bytes_total", "host=a.example", "result=hit"); n != 10 {
		t.Errorf("got %v bytes of hits, want 10", n)
	}
}

// Hosts that change with every reload must not fill /metrics.
func TestSeriesOfRemovedHostsAreDropped(t *testing.T) {
	e, _ := startBefore(t, edgetest.Options{Rule: always()}, answersAll)
	for i := range 2 * series.Kept {
		mustSwap(t, e, counted(fmt.Sprintf("h%d.example", i), "stays.example"))
		if i == 0 {
			ask(t, e, hosted("stays.example", "/"))
		}
	}
	eventually(t, "the one that stays is counted", func() bool {
		return e.Metric(t, "edgeproxy_host_requests_total", "host=stays.example", "result=miss") == 1
	})
	families, err := e.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "edgeproxy_host_requests_total" && l.GetName() == "host" {
					hosts[l.GetValue()] = true
				}
			}
		}
	}
	if n := len(hosts); n != series.Kept+3 || !hosts["other"] || hosts["h0.example"] || !hosts["h127.example"] {
		t.Errorf("got series of %d hosts, want those of the last %d, of the two in force and of others", n, series.Kept)
	}
	mustSwap(t, e, counted())
	ask(t, e, hosted("stays.example", "/"))
	if n := e.Metric(t, "edgeproxy_host_requests_total", "host=stays.example", "result=hit"); n != 0 {
		t.Errorf("got %v hits counted where none was asked for", n)
	}
}
