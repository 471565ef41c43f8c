package shadow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// scrape returns all values by name and policy.
func scrape(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}

func TestMetricsShowEachPolicy(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	o := options(1000, always, secondHit)
	o.Share = 1.0 / 2
	s := newShadow(t, o)
	reg.MustRegister(NewCollector(s))
	for range 4 {
		s.Request(unused, 1, 0, 100, true, begin)
		s.Request(unused, 1, 1<<firstBit, 100, true, begin)
	}
	want := map[string]float64{
		"edgeproxy_shadow_share": 0.5,

		"edgeproxy_shadow_requests_total always":         8,
		"edgeproxy_shadow_sampled_requests_total always": 4,
		"edgeproxy_shadow_request_bytes_total always":    800,
		"edgeproxy_shadow_origin_requests_total always":  2,
		"edgeproxy_shadow_origin_bytes_total always":     200,
		"edgeproxy_shadow_held_back_total always":        0,
		"edgeproxy_shadow_writes_total always":           2,
		"edgeproxy_shadow_write_bytes_total always":      200,
		"edgeproxy_shadow_hit_ratio always":              0.75,
		"edgeproxy_shadow_byte_hit_ratio always":         0.75,

		"edgeproxy_shadow_requests_total second-hit":         8,
		"edgeproxy_shadow_sampled_requests_total second-hit": 4,
		"edgeproxy_shadow_request_bytes_total second-hit":    800,
		"edgeproxy_shadow_origin_requests_total second-hit":  4,
		"edgeproxy_shadow_origin_bytes_total second-hit":     400,
		"edgeproxy_shadow_held_back_total second-hit":        2,
		"edgeproxy_shadow_writes_total second-hit":           2,
		"edgeproxy_shadow_write_bytes_total second-hit":      200,
		"edgeproxy_shadow_hit_ratio second-hit":              0.5,
		"edgeproxy_shadow_byte_hit_ratio second-hit":         0.5,
	}
	if diff := cmp.Diff(want, scrape(t, reg)); diff != "" {
		t.Errorf("scrape (-want +got):\n%s", diff)
	}
}

func TestCollectorWithoutAShadowShowsNothing(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(nil))
	if got := scrape(t, reg); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}
