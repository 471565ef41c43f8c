package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSimulateRefusesEdgesThatMakeNoSense(t *testing.T) {
	log := writeFile(t, "access.log", webLog(20))
	f := func(want string, args ...string) {
		t.Helper()
		got := runHere(t, append([]string{"simulate", log}, args...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%q: got %d %q, want %d and %q", args, got.code, got.stderr, exitUsage, want)
		}
	}
	f("--balance hash: must have --nodes beside it", "--balance", "hash")
	f("--share none: must have --nodes beside it", "--share", "none")
	f("--share placement: must be none with hash balancing: each object has one edge", "--nodes", "2", "--balance", "hash", "--share", "placement")
	f("--share digests: must be none with one node", "--nodes", "1", "--share", "digests")
	f("--share sightings: must be none, placement or digests where no policy remembers sightings", "--nodes", "2", "--share", "sightings", "--policy", "always")
	f("--eviction clairvoyant: must be another one with --nodes", "--nodes", "2", "--eviction", "lru,clairvoyant")
}

// The members of a fleet are in the document with --nodes alone, and one edge is one cache.
func TestSimulateOfOneEdgeIsThatOfOneCache(t *testing.T) {
	log := writeFile(t, "access.log", webLog(3000))
	results := func(args ...string) []map[string]any {
		t.Helper()
		got := runHere(t, append([]string{"simulate", "--json", "--policy", "second-hit,counting", "--stage", "0,10%", log}, args...)...)
		var doc struct{ Results []map[string]any }
		if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil || got.code != exitDone {
			t.Fatalf("%q: got %d %q, %v", args, got.code, got.stderr, err)
		}
		for _, r := range doc.Results {
			delete(r, "requests_per_second")
		}
		return doc.Results
	}
	alone, one, two := results(), results("--nodes", "1"), results("--nodes", "2", "--share", "placement")
	if len(alone) < 5 || len(one) != len(alone) || len(two) != len(alone) {
		t.Fatalf("got %d, %d and %d results", len(alone), len(one), len(two))
	}
	want := map[string]any{"nodes": 1.0, "balance": "random", "share": "none", "peer_requests": 0.0, "peer_bytes": 0.0}
	for i := range alone {
		for name, value := range want {
			if one[i][name] != value {
				t.Errorf("one edge: got %s %v, want %v", name, one[i][name], value)
			}
			delete(one[i], name)
			if v, there := alone[i][name]; there {
				t.Errorf("one cache: got %s %v, want none", name, v)
			}
		}
		if got, want := asJSON(t, one[i]), asJSON(t, alone[i]); got != want {
			t.Errorf("one edge: got %s, want the figures of one cache: %s", got, want)
		}
		if r := two[i]; r["nodes"] != 2.0 || r["share"] != "placement" || r["peer_requests"].(float64) == 0 || r["peer_bytes"].(float64) == 0 ||
			r["hits"].(float64)+r["origin_requests"].(float64) != r["requests"].(float64) || r["requests"] != alone[i]["requests"] {
			t.Errorf("two edges: got %v", r)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The text and the page say what their figures are of.
func TestSimulateSaysTheFleet(t *testing.T) {
	log, page := writeFile(t, "access.log", webLog(3000)), filepath.Join(t.TempDir(), "out.html")
	got := runHere(t, "simulate", "--nodes", "3", "--balance", "random", "--share", "digests", "--policy", "second-hit", "--html", page, log)
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const fleet = "3 edges, random balancing, share digests; each has the capacity"
	if !strings.Contains(got.stdout, "\nfleet     "+fleet) || !strings.Contains(got.stdout, "between edges") || !strings.Contains(string(html), "The fleet: "+fleet) {
		t.Errorf("got %d %q, want the fleet in it, and in the page", got.code, got.stdout)
	}
	for _, args := range [][]string{nil, {"--nodes", "3", "--balance", "hash"}} {
		got := runHere(t, append([]string{"simulate", "--policy", "second-hit", log}, args...)...)
		if fleet := strings.Contains(got.stdout, "\nfleet "); fleet != (args != nil) || strings.Contains(got.stdout, "between edges") {
			t.Errorf("%q: got %q, want the fleet where there is one, and no column for what nobody asks", args, got.stdout)
		}
	}
}
