package tiers

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// The requests of the table. Each goes to either edge by the throw of a coin.
const (
	requests = 6000
	workload = "zipf:objects=4000,requests=6000,exponent=0.8,one-hit=0,size=fixed:4KiB,seed=1"
	edges    = 2
)

// The window is fixed, and larger than all requests: the table hangs on the policies alone.
const (
	always    = `admission: {policy: always}`
	secondHit = `admission: {policy: second-hit, second_hit: {capacity: 1000000}}`
	stageless = `cache: {stale: {if_error: 1h}, memory: {stage_bytes: 0B}}`

	shieldStageless = `cache: {send_tags: true, memory: {stage_bytes: 0B}}`
	staged          = `cache: {stale: {if_error: 1h}, memory: {stage_bytes: 32MiB}}`

	// Edges that hold a quarter of what is asked for.
	small       = `cache: {stale: {if_error: 1h}, memory: {max_bytes: 2MiB, max_object_bytes: 64KiB, stage_bytes: 0B}}`
	smallStaged = `cache: {stale: {if_error: 1h}, memory: {max_bytes: 2MiB, max_object_bytes: 64KiB, stage_bytes: 200KiB}}`
)

// row is one way to set up the tiers, and what became of the requests.
type row struct {
	edges, shield string // in words; no shield is none
	edge, behind  settings

	edgeHits, edgeWrites, edgeStaged float64 // both edges' together
	shieldHits, shieldWrites         float64
	origin                           int
}

func rows() []row {
	hit, all := settings{ofEdges: secondHit, edgesStale: stageless}, settings{ofEdges: always}
	return []row{
		{edges: "second-hit", edge: hit},
		{edges: "second-hit", shield: "second-hit", edge: hit, behind: settings{ofShield: secondHit, shieldsTags: shieldStageless}},
		{edges: "second-hit", shield: "always", edge: hit, behind: settings{}},
		{edges: "second-hit, a stage", shield: "always", edge: settings{ofEdges: secondHit, edgesStale: staged}, behind: settings{}},
		{edges: "always", shield: "always", edge: all, behind: settings{}},
	}
}

// TestTable plays the requests against each row's tiers. The document has the same table.
func TestTable(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the programs do the work")
	t.Parallel()
	table := play(t, rows())
	fmt.Printf("%d requests to %d edges that hold all of it, %s\n\n%s\n", requests, edges, workload, table)
	if want := block(t, "make tiers"); table != want {
		t.Errorf("%s has another table:\n%s", document, want)
	}
}

// TestTableOfSmallEdges has other numbers each time, as what leaves a full cache is drawn.
func TestTableOfSmallEdges(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the programs do the work")
	t.Parallel()
	all := []row{
		{edges: "second-hit", shield: "always", edge: settings{ofEdges: secondHit, edgesStale: small}, behind: settings{}},
		{edges: "second-hit, a stage", shield: "always", edge: settings{ofEdges: secondHit, edgesStale: smallStaged}, behind: settings{}},
		{edges: "always", shield: "always", edge: settings{ofEdges: always, edgesStale: small}, behind: settings{}},
	}
	table := play(t, all)
	fmt.Printf("The same to edges of 2 MiB, about\n\n%s\n", table)
	second, always := &all[0], &all[2]
	if got := always.edgeWrites / second.edgeWrites; got < 3.3 || got > 3.9 {
		t.Errorf("always writes %.1f times what second-hit does, want about 3.6 times as %s says", got, document)
	}
	if second.origin != always.origin {
		t.Errorf("the origin had %d and %d requests, want as many: the shield holds all", second.origin, always.origin)
	}
}

// play plays the requests against the tiers of each row and returns the table.
func play(t *testing.T, all []row) string {
	t.Helper()
	targets := zipf(t)
	t.Run("rows", func(t *testing.T) {
		for i := range all {
			r := &all[i]
			t.Run(r.edges+" before "+cmp.Or(r.shield, "none"), func(t *testing.T) {
				t.Parallel()
				r.play(t, targets)
			})
		}
	})
	var b strings.Builder
	b.WriteString("| edges | shield | edges' hits | edges' writes | shield's hits | shield's writes | requests to the origin |\n|---|---|---|---|---|---|---|\n")
	for i := range all {
		r := &all[i]
		if r.shield == "" {
			fmt.Fprintf(&b, "| %s | none | %.0f | %.0f | | | %d |\n", r.edges, r.edgeHits, r.edgeWrites, r.origin)
			continue
		}
		writes := fmt.Sprintf("%.0f", r.edgeWrites)
		if r.edgeStaged > 0 {
			writes += fmt.Sprintf(", and %.0f of the stage", r.edgeStaged)
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %.0f | %.0f | %d |\n", r.edges, r.shield, r.edgeHits, writes, r.shieldHits, r.shieldWrites, r.origin)
	}
	return b.String()
}

// zipf returns the targets in order.
func zipf(t *testing.T) []string {
	t.Helper()
	made, err := trace.Read(t.Context(), []string{workload}, trace.Options{Keys: true})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	var targets []string
	err = made.Each(t.Context(), func(all []trace.Access) error {
		for _, a := range all {
			_, target := made.Key(a.Object)
			targets = append(targets, target)
		}
		return nil
	})
	if err != nil || len(targets) != requests {
		t.Fatalf("got %d requests, error %v", len(targets), err)
	}
	return targets
}

func (r *row) play(t *testing.T, targets []string) {
	t.Helper()
	body := make([]byte, 4<<10)
	o := startOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = w.Write(body)
	})
	behind, shield := o.url, (*node)(nil)
	if r.shield != "" {
		shield = startShield(t, o.url, r.behind)
		behind = shield.url
	}
	var all [edges]*node
	for i := range all {
		all[i] = startEdge(t, fmt.Sprintf("edge-%d", i+1), behind, r.edge)
	}
	client, coin := clientFrom(t, 0), rand.New(rand.NewPCG(1, 2))
	for _, target := range targets {
		res := all[coin.IntN(edges)].get(t, client, target)
		n, err := io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil || n != int64(len(body)) || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: got %d, %d bytes, error %v", target, res.StatusCode, n, err)
		}
	}
	r.origin, _ = o.seen()
	m := booked(t, requests, all[:]...)
	r.edgeHits, r.edgeWrites, r.edgeStaged = hits(m), m[writes], m[stageWrites]
	misses := requests - r.edgeHits
	if shield != nil {
		m := booked(t, misses, shield)
		r.shieldHits, r.shieldWrites = hits(m), m[writes]
		misses -= r.shieldHits
	}
	if misses != float64(r.origin) {
		t.Errorf("the origin had %d requests, want the %.0f that were no hits", r.origin, misses)
	}
}

const (
	writes      = `edgeproxy_cache_writes_total{tier="memory"}`
	stageWrites = `edgeproxy_cache_writes_total{tier="stage"}`
)

// booked returns the sums of the metrics of all nodes, once they have booked so many requests:
// that is done behind the answer.
func booked(t *testing.T, requests float64, all ...*node) testkit.Series {
	t.Helper()
	var sums testkit.Series
	testkit.Eventually(t, "the last request is booked", func() bool {
		sums = testkit.Series{}
		for _, n := range all {
			for series, v := range n.metrics(t) {
				sums[series] += v
			}
		}
		return sums.Sum("edgeproxy_requests_total") == requests
	})
	return sums
}

func hits(m testkit.Series) (total float64) {
	for series, v := range m {
		if strings.HasPrefix(series, "edgeproxy_requests_total{") && strings.Contains(series, `result="hit"`) {
			total += v
		}
	}
	return total
}
