package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/internal/ops/series"
)

// counted has requests counted by these hosts.
func counted(hosts ...string) (yaml string) {
	return fmt.Sprintf("%smetrics: {hosts: [\"%s\"]}\n", always, strings.Join(hosts, `", "`))
}

func TestHostsThatAreNamedHaveSeries(t *testing.T) {
	e, _ := startBefore(t, always, answersAll)
	of := func(host, result string) float64 {
		return e.Metric(t, "edgeproxy_host_requests_total", "host="+host, "result="+result)
	}
	ask(t, e, hosted("a.example", "/before"))
	if n := of("other", "miss"); n != 0 {
		t.Errorf("got %v requests counted unasked", n)
	}
	reload(t, e, counted("a.example:8080", "a.example", "x.b.example", "*.b.example"))
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
	e, _ := startBefore(t, always, answersAll)
	for i := range 2 * series.Kept {
		reload(t, e, counted(fmt.Sprintf("h%d.example", i), "stays.example"))
		if i == 0 {
			ask(t, e, hosted("stays.example", "/"))
		}
	}
	eventually(t, "the one that stays is counted", func() bool {
		return e.Metric(t, "edgeproxy_host_requests_total", "host=stays.example", "result=miss") == 1
	})
	families, err := e.Metrics().Gather()
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
	reload(t, e, always)
	ask(t, e, hosted("stays.example", "/"))
	if n := e.Metric(t, "edgeproxy_host_requests_total", "host=stays.example", "result=hit"); n != 0 {
		t.Errorf("got %v hits counted where none was asked for", n)
	}
}
