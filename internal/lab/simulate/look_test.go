package simulate

import (
	"bytes"
	"testing"
	"time"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/test/testkit"
)

// The page that hid the right half of its tables in a window of 1,300 pixels: with
// every column there is, and the longest words in them.
func TestBrowserShowsAllOfTheReport(t *testing.T) {
	r := replayed(t, tiny(t), Grid{
		Capacities:  []Amount{{Percent: 5}, {Bytes: 200_000_000}},
		Rotations:   []Rotation{{Unit: ByTime, Every: 90 * time.Second}, {Unit: ByKeys, PerCached: 16}, {Unit: ByRequests, Count: 1_000_000_000}},
		Stages:      []Amount{{}, {Percent: 10}},
		Generations: []int{2, 3}, FalsePositiveRates: []float64{0.0001, 0.01}, Evictions: []model.Eviction{model.LRU},
	})
	var page bytes.Buffer
	if err := r.Page("/var/log/nginx/access.log, standard input, zipf:objects=5000,requests=50000,exponent=0.9").Write(&page); err != nil {
		t.Fatal(err)
	}
	testkit.ReadablePage(t, page.String(), 3)
}
