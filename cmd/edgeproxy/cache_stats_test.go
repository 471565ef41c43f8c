package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/edge"
)

// cache stats printed a document of thirty fields, and said nothing of the memory and of the window.
func TestCacheStatsWereADocumentForMachines(t *testing.T) {
	t.Parallel()
	var s edge.Status
	s.Go, s.Uptime = "go", 3700
	s.Requests.Totals.HitRatio, s.Requests.Totals.ByteHitRatio = 0.5, 0.25
	s.Cache.TierStatus = edge.TierStatus{Objects: 3, Bytes: 1 << 20, MaxBytes: 4 << 20, Writes: 5, Evictions: map[string]int64{"capacity": 2, "rejected": 1, "variants": 0}, Replaced: 7, ObjectsHit: 2}
	s.Cache.EvictedBySize = []edge.EvictedStatus{
		{Size: "1KiB", UpTo: 1 << 10},
		{Size: "4KiB", UpTo: 4 << 10, Objects: 2, Bytes: 6000, NeverHitObjects: 1, NeverHitBytes: 2000},
		{Size: "larger", Objects: 1, Bytes: 5 << 20, NeverHitObjects: 1, NeverHitBytes: 5 << 20},
	}
	s.Cache.Disk = &edge.DiskStatus{
		TierStatus:  edge.TierStatus{Objects: 9, Bytes: 1 << 30, MaxBytes: 10 << 30},
		Directories: []edge.DirectoryStatus{{Path: "/cache", Objects: 9, Bytes: 1 << 30, MaxBytes: 10 << 30, Hits: 4, QueueHits: 1, Misses: 2, Damaged: 1, ReadErrors: 2, NoSpace: 1}},
	}
	s.Filters = []edge.FilterStatus{{Name: "second_hit", WindowSeconds: 60, WindowKeys: 12}}
	want := `up 1h1m40s, hit ratio 50.0 % of requests, 25.0 % of bytes

tier    objects  bytes    of       written  never hit  evicted at the age of
memory  3        1.0 MiB  4.0 MiB  5        0          none
disk    9        1.0 GiB  10 GiB   0        0          none

tier    full    hit of objects  replaced  purged  evicted, by cause
memory  25.0 %  66.7 %          7         0       capacity 2, rejected 1
disk    10.0 %  0.0 %           0         0       none

evicted of  up to    objects  never hit  share    bytes    never hit  share
memory      4.0 KiB  2        1          50.0 %   5.9 KiB  2.0 KiB    33.3 %
memory      larger   1        1          100.0 %  5.0 MiB  5.0 MiB    100.0 %

directory  objects  bytes    of      live  hits  misses  written  waiting  index  damaged  errors
/cache     9        1.0 GiB  10 GiB  0 B   5     2       0 B      0 B      0 B    1        3

window      remembers  keys  fill  false positives  measured  rotations
second_hit  1m0s       12          0 %              none yet  none
`
	if got := cacheScreen(&s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCacheStatsOfAStoppedProxyAndOfSomethingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := runBinary(t, "cache", "stats", "--dir", filepath.Join(dir, "none"))
	if got.code != exitFailed {
		t.Errorf("no directory: got %d %q", got.code, got.stdout)
	}
	text, err := stoppedTier{}.statsText(t.Context())
	if want := "disk, of a stopped proxy\nobjects                   0\nbodies                    0 B\nfiles                     0 B\nsegments                  0\nunreadable                0\n"; err != nil || text != want {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode("x") }))
	t.Cleanup(other.Close)
	got = runBinary(t, "cache", "stats", "--admin", other.URL)
	if want := "edgeproxy: cache stats: " + other.URL + ": " + notOurs + "\n"; got.code != exitFailed || got.stderr != want {
		t.Errorf("got %d %q, want %q", got.code, got.stderr, want)
	}
	none := httptest.NewServer(http.NotFoundHandler())
	none.Close()
	got = runBinary(t, "cache", "stats", "--admin", none.URL)
	if got.code != exitFailed || !strings.HasPrefix(got.stderr, "edgeproxy: cache stats: "+none.URL+": ") || !strings.Contains(got.stderr, "is the proxy running") {
		t.Errorf("got %d %q, want that nothing answers", got.code, got.stderr)
	}
}
