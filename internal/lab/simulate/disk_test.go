package simulate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"edgeproxy/internal/admission"
)

// withDisk is a grid of two memories, each without a disk and with one.
func withDisk() Grid {
	return Grid{
		Policies:   []admission.Policy{admission.SecondHit},
		Capacities: []Amount{{Percent: 1}, {Percent: 2}},
		Disks:      []Amount{{}, {Percent: 10}},
		Rotations:  []Rotation{{Unit: Fitted}},
	}
}

func TestADiskIsAGroupOfItsOwnWithItsFigures(t *testing.T) {
	r := replayed(t, zipf(t, 30_000), withDisk())
	if len(r.Groups) != 4 {
		t.Fatalf("got %d groups, want two memories without and with a disk", len(r.Groups))
	}
	for i, g := range r.Groups {
		disk := i%2 == 1
		if (g.DiskBytes > 0) != disk || (g.DiskObject > 0) != disk {
			t.Errorf("group %d: got a disk of %d for objects up to %d, want one: %v", i, g.DiskBytes, g.DiskObject, disk)
		}
		always := g.Results[0]
		for _, res := range g.Results {
			if (res.DiskHits > 0) != disk || (res.DiskWriteBytes > 0) != disk || (res.MemoryWrites > 0) != disk {
				t.Errorf("%s: got %+v, want figures of a disk: %v", res.describe(), res, disk)
			}
			if res.DiskWriteBytes+res.DiskWriteBytesAvoided != always.DiskWriteBytes {
				t.Errorf("%s: %d bytes to the disk and %d avoided, want %d in all", res.describe(), res.DiskWriteBytes, res.DiskWriteBytesAvoided, always.DiskWriteBytes)
			}
			if disk && res.WriteAmplification < 1 {
				t.Errorf("%s: a factor of %v, want 1 at least: what is written has heads", res.describe(), res.WriteAmplification)
			}
		}
	}
	// The window goes by the tier behind the gate, which is the disk.
	if without, with := r.Groups[0].Results[1], r.Groups[1].Results[1]; with.WindowObjects <= 5*without.WindowObjects || r.Groups[1].CachedObjects <= 5*r.Groups[0].CachedObjects {
		t.Errorf("C: got %d with the disk and %d without, want some ten times as many", with.WindowObjects, without.WindowObjects)
	}
	if with := r.Groups[1].Results[1]; with.HitRatio <= r.Groups[0].Results[1].HitRatio {
		t.Errorf("hit ratio with a disk: got %v, want more than without", with.HitRatio)
	}
}

func TestReportsShowADiskWhereThereIsOne(t *testing.T) {
	r := replayed(t, zipf(t, 30_000), withDisk())
	var text, document bytes.Buffer
	if err := r.WriteText(&text, "log"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bytes of disk (10% of the unique bytes, ", "  disk hits  to disk", "and a disk of ", "\n  disk:\n    path: /var/cache/edgeproxy\n    max_bytes: ", "Where writes to the disk cost nothing"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant %q", text.String(), want)
		}
	}
	if err := r.WriteJSON(&document); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []map[string]any `json:"results"`
	}
	if err := json.Unmarshal(document.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i, res := range got.Results {
		for _, name := range []string{"disk_bytes", "disk_hits", "disk_hit_bytes", "disk_write_bytes", "write_amplification", "memory_writes"} {
			if _, there := res[name]; there != (i/2%2 == 1) {
				t.Errorf("result %d: has %s: %v, want it with a disk alone", i, name, there)
			}
		}
	}
	two := 0
	for _, s := range r.Page("log").Sections {
		if strings.HasPrefix(s.Heading, "Hit ratio by capacity") {
			two++
		}
	}
	if two != 2 {
		t.Errorf("got %d charts of hit ratio by capacity, want one without a disk and one with", two)
	}
}
