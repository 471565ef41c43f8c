package edge

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// manyRoutes returns a file with n routes, each to an origin of its own, and with the rules at the top. ranges is a setting that each reload changes.
func manyRoutes(n, ranges int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\nheaders: {response: {remove: [Server]}}\nlimits: {ranges: %d}\norigins:\n", ranges)
	for i := range n {
		fmt.Fprintf(&b, "  app%d: {servers: [\"http://127.0.0.1:%d\"]}\n", i, 20000+i)
	}
	b.WriteString("routes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: route%d, match: {hosts: [host%d.example], path_prefix: /}, origin: app%d}\n", i, i, i)
	}
	return b.String()
}

// reloadable starts a proxy with n routes, and returns a function that changes a setting in its file and reloads it.
func reloadable(tb testing.TB, n int) (reload func()) {
	tb.Helper()
	from := &Source{File: filepath.Join(tb.TempDir(), "edge.yaml")}
	renameOver(tb, from.File, manyRoutes(n, 1))
	c, err := from.Load()
	if err != nil {
		tb.Fatal(err)
	}
	e := built(tb, c, Options{Source: from})
	if err := e.Listen(); err != nil {
		tb.Fatal(err)
	}
	ranges := 1
	return func() {
		ranges++
		renameOver(tb, from.File, manyRoutes(n, ranges))
		if a, err := e.reloader.reload("test"); err != nil || a.Result != ResultApplied || len(a.Changed) != 1 {
			tb.Fatalf("got %+v, %v, want limits.ranges changed", a, err)
		}
	}
}

// BenchmarkReload applies a file of which one setting has changed.
func BenchmarkReload(b *testing.B) {
	for _, n := range []int{1000, 2000} {
		b.Run(fmt.Sprintf("routes=%d", n), func(b *testing.B) {
			reload := reloadable(b, n)
			for b.Loop() {
				reload()
			}
		})
	}
}

// A reload made the table of each route's settings ten times, with its JSON Schema: sixteen thousand allocations a route, and a
// millisecond.
func TestAReloadMadeTheTableOfEachRouteTenTimes(t *testing.T) {
	testkit.Plain(t, "it counts allocations")
	few := reloadable(t, 100)
	twice := reloadable(t, 200)
	one, two := testing.AllocsPerRun(3, few), testing.AllocsPerRun(3, twice)
	if perRoute := (two - one) / 100; perRoute > 2000 {
		t.Errorf("got %.0f allocations for each route and its origin, want at most 2000", perRoute)
	}
	if two > 2.2*one {
		t.Errorf("got %.0f allocations for 200 routes and %.0f for 100, want at most 2.2 times as many", two, one)
	}
}

// Each origin was searched for among all before, and each route among all others: a reload of 2,000 took four times as long as
// one of 1,000.
func TestAReloadTookFourTimesAsLongForTwiceAsManyRoutes(t *testing.T) {
	testkit.Alone(t, "it compares times")
	least := func(n int) time.Duration {
		reload := reloadable(t, n)
		best := time.Duration(math.MaxInt64)
		for range 5 {
			begin := time.Now()
			reload()
			best = min(best, time.Since(begin))
		}
		return best
	}
	few, many := least(500), least(4000)
	t.Logf("500 routes: %v, 4000: %v", few, many)
	if many > 30*few {
		t.Errorf("4000 routes took %v, 500 took %v: want at most 30 times as long", many, few)
	}
}

// TestAReloadKeepsTheOriginsThatHaveNotChanged, in another order too, and no other.
func TestAReloadKeepsTheOriginsThatHaveNotChanged(t *testing.T) {
	const routes = "routes: [{name: default, origin: a}]\n"
	from := &Source{File: writeFile(t, "edge.yaml", "origins: {a: {servers: [\"http://h:1\"]}, b: {servers: [\"http://h:1\"]}, c: {servers: [\"http://h:2\"]}}\n"+routes)}
	c, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := built(t, c, Options{Source: from})
	before := e.now.Load().origins
	renameOver(t, from.File, "origins: {d: {servers: [\"http://h:1\"]}, c: {servers: [\"http://h:3\"]}, b: {servers: [\"http://h:1\"]}, a: {servers: [\"http://h:1\"]}}\n"+routes)
	next, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	after, err := e.buildOrigins(next, before)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrigins(after, before) })
	for i, want := range []*liveOrigin{nil, nil, &before[1], &before[0]} {
		kept := want != nil
		for _, b := range before {
			if same := after[i].origin == b.origin; same != (kept && b.origin == want.origin) {
				t.Errorf("%s: got the origin %s of before: %v", after[i].config.Name, b.config.Name, same)
			}
		}
	}
	if gone := originsNotIn(before, after); len(gone) != 1 || gone[0] != before[2].origin {
		t.Errorf("got %d origins to retire, want c of before", len(gone))
	}
}
