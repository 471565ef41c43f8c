package cache

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/cache/disk"
)

func TestTheDiskIsATierOfStatsAndMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	o := usualOptions()
	o.StageBytes, o.Metrics = 0, NewMetrics(reg)
	s, d := newStoreOnDisk(t, o)
	for _, url := range []string{"a", "b", "c"} {
		if got := s.Put(plain(url, 0, 1000), nil); got != Stored {
			t.Fatalf("got %v", got)
		}
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	got := s.Stats().Disk
	if got.Objects != 3 || got.Bytes < 3000 || got.Bytes > got.MaxBytes || got.MaxBytes != disk.MinBytes {
		t.Errorf("got %+v, want 3 objects of some more than 3000 bytes", got)
	}
	found, _ := s.Load(sum("a"), []byte("a"))
	if found == nil {
		t.Fatal("not found")
	}
	s.Release(found)
	hit := s.HitParts().Disk
	if hit.Objects != 1 || hit.Sampled != 3 || hit.Bytes < 1000 || hit.Bytes > 2000 {
		t.Errorf("got %+v hit, want one of three", hit)
	}
	want := map[string]float64{
		"edgeproxy_cache_objects_hit{tier=memory}":                     0,
		"edgeproxy_cache_bytes_hit{tier=memory}":                       0,
		"edgeproxy_cache_objects_hit{tier=disk}":                       1,
		"edgeproxy_cache_bytes_hit{tier=disk}":                         float64(hit.Bytes),
		"edgeproxy_cache_writes_total{tier=memory}":                    0,
		"edgeproxy_cache_write_bytes_total{tier=memory}":               0,
		"edgeproxy_cache_objects{tier=memory}":                         0,
		"edgeproxy_cache_bytes{tier=memory}":                           0,
		"edgeproxy_cache_max_bytes{tier=memory}":                       1 << 20,
		"edgeproxy_cache_evictions_total{reason=capacity,tier=memory}": 0,
		"edgeproxy_cache_evictions_total{reason=rejected,tier=memory}": 0,
		"edgeproxy_cache_evictions_total{reason=variants,tier=memory}": 0,
		"edgeproxy_cache_stores_never_hit_total{tier=memory}":          0,
		"edgeproxy_cache_writes_total{tier=disk}":                      3,
		"edgeproxy_cache_write_bytes_total{tier=disk}":                 3000,
		"edgeproxy_cache_objects{tier=disk}":                           3,
		"edgeproxy_cache_bytes{tier=disk}":                             float64(got.Bytes),
		"edgeproxy_cache_max_bytes{tier=disk}":                         disk.MinBytes,
		"edgeproxy_cache_evictions_total{reason=capacity,tier=disk}":   0,
		"edgeproxy_cache_evictions_total{reason=lost,tier=disk}":       0,
		"edgeproxy_cache_evictions_total{reason=variants,tier=disk}":   0,
		"edgeproxy_cache_outweighed_total{}":                           0, "edgeproxy_cache_promotions_total{}": 0,
		"edgeproxy_cache_pinned_bytes{}": 0,
	}
	expectEvicted(want, "memory", nil)
	expectEvicted(want, "disk", nil)
	if diff := cmp.Diff(want, scrape(t, reg)); diff != "" {
		t.Errorf("scrape: (-want +got)\n%s", diff)
	}
}

func TestARecordSaysWhichEntryItIs(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	if got := s.Put(variant("u", "1", 100, "Accept"), nil); got != Stored {
		t.Fatalf("got %v", got)
	}
	entries := map[string]int32{}
	if err := d.Each(func(i *disk.Item) bool {
		e, err := RecordEntry(i.Block)
		if err != nil || string(e.Name) != string(i.Key) {
			t.Errorf("got %+v, %v", e, err)
			return true
		}
		entries[string(e.Name)] = e.Status
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int32{"u\x001": 200, "u\x00vary": 0}, entries); diff != "" {
		t.Errorf("want -, got +: the variant and its marker\n%s", diff)
	}
	for _, b := range [][]byte{nil, make([]byte, 10), make([]byte, 200)} {
		if e, err := RecordEntry(b); err == nil {
			t.Errorf("%d bytes: got %+v", len(b), e)
		}
	}
}
