package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/metrics"
)

func TestPlanOfADisk(t *testing.T) {
	p, err := newPlan(parse(t, "--capacity", "4MiB", "--disk", "32MiB"), objects(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	c := p.edgeSettings("always")
	c.disk = "/d"
	const section = "  disk:\n    path: \"/d\"\n    max_bytes: 33554432B\n    max_object_bytes: 4194304B\n"
	if got := string(c.yaml()); !strings.Contains(got, section) {
		t.Errorf("got\n%s\nwant in it\n%s", got, section)
	}
	if s := p.baselineSetting("nginx", "", ""); s.capacityBytes != 32<<20 || p.largestStored() != 4<<20 || p.cacheFolder("files") != "files" {
		t.Errorf("others get %d bytes for objects up to %d in %q; want 32 MiB, 4 MiB, and no memory", s.capacityBytes, p.largestStored(), p.cacheFolder("files"))
	}
	plain, err := newPlan(parse(t, "--capacity", "4MiB"), objects(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	if c := plain.edgeSettings("always"); bytes.Contains(c.yaml(), []byte("disk")) || plain.cacheBytes() != 4<<20 {
		t.Errorf("without --disk: %s", c.yaml())
	}
	_, err = newPlan(parse(t, "--capacity", "4MiB", "--disk", "50%"), objects(16<<20))
	if command.Code("loadtest", err, io.Discard) != command.Usage || !strings.Contains(err.Error(), "no less than 16 MiB") {
		t.Errorf("8 MiB: got %v", err)
	}
}

func TestWithADiskItsTierIsCounted(t *testing.T) {
	const text = "edgeproxy_cache_writes_total{tier=\"memory\"} 5\nedgeproxy_cache_writes_total{tier=\"disk\"} 7\n" +
		"edgeproxy_cache_write_bytes_total{tier=\"memory\"} 50\nedgeproxy_cache_write_bytes_total{tier=\"disk\"} 70\n"
	x, err := metrics.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for disk, want := range map[int64][2]int64{0: {5, 50}, 1: {7, 70}} {
		if c, _ := countsIn(x, &edgeConfig{diskBytes: disk}); [2]int64{c.writes, c.writeBytes} != want {
			t.Errorf("disk of %d bytes: got %d writes of %d bytes, want %v", disk, c.writes, c.writeBytes, want)
		}
	}
}

func TestTableOfADisk(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	doc := document{Run: runFacts{DiskBytes: 32 << 20, disk: "10%"}, Results: []result{
		{Policy: "always", DeviceBytes: n(4 << 20)}, {Policy: "second-hit", DeviceBytes: n(1 << 20)}, {Policy: "never"},
	}}
	var b strings.Builder
	if err := doc.writeTable(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{1: "disk 33,554,432 (32 MiB; 10%)", 3: "to disk    less", 4: "4.0 MiB   0.00%", 5: "1.0 MiB  75.00%", 6: "-       -"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: %q, want in it %q", i, lines[i], want)
		}
	}
}
