package cache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/cache/evicted"
)

// scrape returns all values by name and labels.
func scrape(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := family.GetName() + "{" + strings.Join(labels, ",") + "}"
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}

// expectEvicted adds to want what was evicted of a tier by size: objects, bytes, and of both what was never hit.
func expectEvicted(want map[string]float64, tier string, bySize map[string][4]int64) {
	for class := range evicted.Class(evicted.Classes) {
		for i, name := range []string{"evicted_objects", "evicted_bytes", "evicted_never_hit_objects", "evicted_never_hit_bytes"} {
			want[fmt.Sprintf("edgeproxy_cache_%s_total{size=%v,tier=%s}", name, class, tier)] = float64(bySize[class.String()][i])
		}
	}
}

func TestMetricsShowTheStore(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := NewMetrics(reg)
	if got := scrape(t, reg)["edgeproxy_cache_writes_total{tier=memory}"]; got != 0 {
		t.Errorf("before a Store is made: got %v writes, want 0", got)
	}
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, Metrics: m})
	for i := range 1000 {
		mustPut(t, s, plain(fmt.Sprint(i), 0, 2000))
	}
	mustPut(t, s, variant("/a", "1", 10, "Accept"))
	mustPut(t, s, variant("/a", "2", 10, "Accept"))
	holds(s, "/a") // no variant
	if _, tier := findIn(s, variant("/a", "2", 10, "Accept").Key, variant("/a", "2", 10, "Accept").Name); tier != Memory {
		t.Fatalf("got tier %v", tier)
	}
	st := s.Stats()
	want := map[string]float64{
		"edgeproxy_cache_objects_hit{tier=memory}":                     1,
		"edgeproxy_cache_bytes_hit{tier=memory}":                       float64(variant("/a", "2", 10, "Accept").Cost()),
		"edgeproxy_cache_writes_total{tier=memory}":                    1002,
		"edgeproxy_cache_write_bytes_total{tier=memory}":               1000*2000 + 20,
		"edgeproxy_cache_objects{tier=memory}":                         float64(s.Objects()),
		"edgeproxy_cache_bytes{tier=memory}":                           float64(s.Bytes()),
		"edgeproxy_cache_max_bytes{tier=memory}":                       1 << 20,
		"edgeproxy_cache_evictions_total{reason=capacity,tier=memory}": float64(st.Capacity),
		"edgeproxy_cache_evictions_total{reason=rejected,tier=memory}": float64(st.Rejected),
		"edgeproxy_cache_evictions_total{reason=variants,tier=memory}": 1,
		"edgeproxy_cache_stores_never_hit_total{tier=memory}":          float64(1002 - s.Objects()),
		"edgeproxy_cache_outweighed_total{}":                           0, "edgeproxy_cache_promotions_total{}": 0,
		"edgeproxy_cache_pinned_bytes{}": 0,
	}
	gone, first := st.Capacity+st.Rejected, variant("/a", "1", 10, "Accept").Cost()
	cost := int64(0)
	for i := range 1000 { // names of one to three digits
		if e := plain(fmt.Sprint(i), 0, 2000); s.heldLocked(e.Key) == nil {
			cost += e.Cost()
		}
	}
	expectEvicted(want, "memory", map[string][4]int64{"1KiB": {1, first, 1, first}, "4KiB": {gone, cost, gone, cost}})
	if diff := cmp.Diff(want, scrape(t, reg)); diff != "" {
		t.Errorf("scrape: (-want +got)\n%s", diff)
	}
	if st.Capacity+st.Rejected == 0 {
		t.Error("got no evictions in a full cache")
	}
}

func TestMetricsShowTheStageWhenThereIsOne(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s := newStoreOf(t, Options{
		MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, StageBytes: 32 << 10, Metrics: NewMetrics(reg),
	})
	for i := range 100 {
		mustStage(t, s, plain(fmt.Sprint(i), 0, 2000))
	}
	mustStage(t, s, variant("/a", "1", 10, "Accept"))
	mustStage(t, s, variant("/a", "2", 10, "Accept"))
	holds(s, "98")
	holds(s, "99")
	if !s.Promote(sum("99"), []byte("99"), 0) {
		t.Fatal("Promote: got false, want true")
	}
	s.Purge(sum("99"), []byte("99"))
	st := s.Stats().Stage
	want := map[string]float64{
		"edgeproxy_cache_writes_total{tier=memory}":                    1,
		"edgeproxy_cache_write_bytes_total{tier=memory}":               2000,
		"edgeproxy_cache_objects{tier=memory}":                         0,
		"edgeproxy_cache_bytes{tier=memory}":                           0,
		"edgeproxy_cache_max_bytes{tier=memory}":                       1<<20 - 32<<10,
		"edgeproxy_cache_evictions_total{reason=capacity,tier=memory}": 0,
		"edgeproxy_cache_evictions_total{reason=rejected,tier=memory}": 0,
		"edgeproxy_cache_evictions_total{reason=variants,tier=memory}": 0,
		"edgeproxy_cache_stores_never_hit_total{tier=memory}":          1,
		"edgeproxy_cache_writes_total{tier=stage}":                     102,
		"edgeproxy_cache_write_bytes_total{tier=stage}":                100*2000 + 20,
		"edgeproxy_cache_objects{tier=stage}":                          float64(st.Objects),
		"edgeproxy_cache_bytes{tier=stage}":                            float64(s.stage.items.bytes.Load()),
		"edgeproxy_cache_max_bytes{tier=stage}":                        32 << 10,
		"edgeproxy_cache_evictions_total{reason=capacity,tier=stage}":  float64(102 - 1 - 1 - st.Objects),
		"edgeproxy_cache_evictions_total{reason=variants,tier=stage}":  1,
		"edgeproxy_cache_stores_never_hit_total{tier=stage}":           float64(102 - 1 - st.Objects),
		"edgeproxy_cache_objects_hit{tier=memory}":                     0,
		"edgeproxy_cache_bytes_hit{tier=memory}":                       0,
		"edgeproxy_cache_objects_hit{tier=stage}":                      1,
		"edgeproxy_cache_bytes_hit{tier=stage}":                        float64(plain("98", 0, 2000).weight().staged()),
		"edgeproxy_cache_outweighed_total{}":                           0, "edgeproxy_cache_promotions_total{}": 1,
		"edgeproxy_cache_pinned_bytes{}": 0,
	}
	gone, cost := st.Capacity, int64(0)
	for i := range gone {
		cost += plain(fmt.Sprint(i), 0, 2000).weight().staged()
	}
	first := variant("/a", "1", 10, "Accept").weight().staged()
	expectEvicted(want, "memory", nil)
	expectEvicted(want, "stage", map[string][4]int64{"1KiB": {1, first, 1, first}, "4KiB": {gone, cost, gone, cost}})
	if diff := cmp.Diff(want, scrape(t, reg)); diff != "" {
		t.Errorf("scrape: (-want +got)\n%s", diff)
	}
	if st.Objects < 10 || st.Objects > 14 {
		t.Errorf("got %d objects staged, want a stage full of about 13", st.Objects)
	}
}

func TestRegisteringTwicePanics(t *testing.T) {
	reg := prometheus.NewRegistry()
	NewMetrics(reg)
	defer func() {
		if recover() == nil {
			t.Error("second NewMetrics: got no panic, want one")
		}
	}()
	NewMetrics(reg)
}
