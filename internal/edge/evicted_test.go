package edge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/test/testkit"
)

// fetch returns the body at url.
func fetch(t *testing.T, url string) string {
	t.Helper()
	c := &http.Client{Timeout: patience}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d, %v", url, res.StatusCode, err)
	}
	return string(b)
}

// sizedOrigin answers /N with a body of N bytes that may be stored.
func sizedOrigin(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Errorf("got a request of %s", r.URL)
		}
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = w.Write(make([]byte, n))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// valuesOf returns the values of a metric with the label tier, by the label called by.
func valuesOf(text, metric, tier, by string) map[string]int64 {
	out := map[string]int64{}
	for line := range strings.Lines(text) {
		labels, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, metric+"{")), "} ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil && strings.HasPrefix(line, metric+"{") && strings.Contains(labels, `tier="`+tier+`"`) {
			_, label, _ := strings.Cut(labels, by+`="`)
			label, _, _ = strings.Cut(label, `"`)
			out[label] = int64(n)
		}
	}
	return out
}

// crowded is a proxy with a tier that is too small for what is asked for.
type crowded struct {
	tier, policy string
	size         int    // bytes of each body
	class        string // the class of what the tier holds
	set          func(*config.Cache)
	status       func(*CacheStatus) *TierStatus
}

const (
	crowd      = 1000 // objects that are asked for
	crowdAgain = 10   // each so many of them is asked for twice, but for the stage
)

// start returns the proxy.
func (c *crowded) start(t *testing.T) *Edge {
	t.Helper()
	conf, err := config.FromFlags(config.Flags{Origin: sizedOrigin(t), Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Policy: c.policy})
	if err != nil {
		t.Fatal(err)
	}
	conf.Cache.Memory = config.Memory{MaxBytes: 8 * config.MiB, MaxObjectBytes: config.MiB, Eviction: cache.SizeAware}
	c.set(&conf.Cache)
	return started(t, conf)
}

// fill asks for all objects, and waits until they are stored.
func (c *crowded) fill(t *testing.T, e *Edge) {
	t.Helper()
	writes := func() int64 { // to the stage or, by a false positive of the filter, to memory
		s := e.cacheStatus()
		if st := c.status(&s); st != s.Stage {
			return st.Writes
		}
		return s.Stage.Writes + s.Writes
	}
	for i := range crowd {
		url := fmt.Sprintf("http://%s/%d?%d", e.Addresses()[0], c.size, i)
		fetch(t, url)
		if e.disk != nil && i%(2*crowdAgain) == 0 && e.disk.Flush() != nil { // its queue is short
			t.Fatal("it was not written")
		}
		if i%crowdAgain == 0 && c.tier != "stage" {
			eventually(t, "it is stored", func() bool { return writes() == int64(i+1) })
			fetch(t, url)
		}
	}
	eventually(t, "all are stored", func() bool { return writes() == crowd })
	if e.disk != nil && e.disk.Flush() != nil {
		t.Fatal("they were not written")
	}
}

// row returns the row of the tier's class, which has all evictions.
func (c *crowded) row(t *testing.T, st *TierStatus) (row EvictedStatus) {
	t.Helper()
	all := int64(0)
	for _, n := range st.Evictions {
		all += n
	}
	for _, r := range st.EvictedBySize {
		if r.Size == c.class {
			row = r
		} else if r.Objects != 0 || r.Bytes != 0 || r.NeverHitObjects != 0 || r.NeverHitBytes != 0 {
			t.Errorf("got %+v, want none of this size", r)
		}
	}
	if all < crowd/10 || all >= crowd || st.EvictionAge["capacity"]+st.EvictionAge["rejected"] <= 0 {
		t.Fatalf("got %+v, want some evictions and their age", st)
	}
	if row.Objects != all || row.Bytes < all*int64(c.size) || row.Bytes > all*row.UpTo {
		t.Fatalf("got %+v, want all %d of %d bytes and some more each", row, all, c.size)
	}
	each := row.Bytes / row.Objects // URLs differ in length
	if row.NeverHitBytes < row.NeverHitObjects*(each-64) || row.NeverHitBytes > row.NeverHitObjects*(each+64) {
		t.Errorf("got %+v, want objects of the same bytes", row)
	}
	return row
}

// checkHit compares what was hit with what was asked for twice.
func (c *crowded) checkHit(t *testing.T, st *TierStatus, row *EvictedStatus) {
	t.Helper()
	evicted, held, want := row.Objects-row.NeverHitObjects, st.ObjectsHit, int64(crowd/crowdAgain)
	right := evicted+held == want
	switch c.tier {
	case "disk": // it knows of what it holds the hits since eviction last passed
		right = held > 0 && evicted+held <= want
	case "stage":
		want, right = 0, evicted+held == 0
	}
	if !right || st.ObjectsSampled < 100 {
		t.Errorf("got %d hit that were evicted, and %d hit of %d looked at, want %d together", evicted, held, st.ObjectsSampled, want)
	}
}

// checkMetrics compares the metrics with the status.
func (c *crowded) checkMetrics(t *testing.T, text string, st *TierStatus, row *EvictedStatus) {
	t.Helper()
	for metric, want := range map[string]int64{
		"evicted_objects": row.Objects, "evicted_bytes": row.Bytes,
		"evicted_never_hit_objects": row.NeverHitObjects, "evicted_never_hit_bytes": row.NeverHitBytes,
	} {
		got := valuesOf(text, "edgeproxy_cache_"+metric+"_total", c.tier, "size")
		if len(got) != len(st.EvictedBySize) || got[c.class] != want {
			t.Errorf("%s: got %v, want %d of %s", metric, got, want, c.class)
		}
	}
	for metric, want := range map[string]int64{"objects_hit": st.ObjectsHit, "bytes_hit": st.BytesHit} {
		if got := valuesOf(text, "edgeproxy_cache_"+metric, c.tier, "tier")[c.tier]; got != want {
			t.Errorf("%s: got %d, want %d", metric, got, want)
		}
	}
}

// A tier that is too small evicts what nobody asked for again: the status and the metrics say how much of which size.
func TestTheOperatorSeesWhatWasEvictedBeforeItsFirstHit(t *testing.T) {
	testkit.Slow(t, "it fills three tiers until they evict")
	for _, c := range []crowded{
		{"memory", "always", 10_000, "16KiB", func(*config.Cache) {}, func(s *CacheStatus) *TierStatus { return &s.TierStatus }},
		{"stage", "second-hit", 10_000, "16KiB", func(c *config.Cache) { c.Memory.StageBytes = 2 * config.MiB }, func(s *CacheStatus) *TierStatus { return s.Stage }},
		{"disk", "always", 50_000, "64KiB", func(c *config.Cache) {
			c.Disk = config.Disk{Paths: []string{t.TempDir()}, MaxBytes: 32 * config.MiB, MaxObjectBytes: config.MiB}
		}, func(s *CacheStatus) *TierStatus { return &s.Disk.TierStatus }},
	} {
		t.Run(c.tier, func(t *testing.T) {
			e := c.start(t)
			c.fill(t, e)
			var s Status
			if err := json.Unmarshal([]byte(fetch(t, "http://"+e.AdminAddress()+"/status")), &s); err != nil {
				t.Fatal(err)
			}
			st := c.status(&s.Cache)
			row := c.row(t, st)
			c.checkHit(t, st, &row)
			c.checkMetrics(t, fetch(t, "http://"+e.AdminAddress()+"/metrics"), st, &row)
		})
	}
}
