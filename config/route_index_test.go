package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/route/routing"
)

// randomRoutes returns routes of few hosts and paths, so that many cover each other.
func randomRoutes(r *rand.Rand, n int) []Route {
	hosts := []routing.Host{{}, {Port: 80}, {Name: "a"}, {Name: "b.a"}, {Name: "b.a", Subdomains: true}, {Name: "a", Subdomains: true}, {Name: "c.b.a", Port: 81}, {Name: "[::1]"}}
	paths := []string{"/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/b", "/ab"}
	some := func(all []string, least int) (out []string) {
		for range least + r.IntN(2) {
			out = append(out, all[r.IntN(len(all))])
		}
		return out
	}
	routes := make([]Route, n)
	for i := range routes {
		m := &routes[i].Match
		m.Scheme, m.PathPrefixes = routing.AnyScheme, some(paths, 1)
		for range 1 + r.IntN(2) {
			m.Hosts = append(m.Hosts, hosts[r.IntN(len(hosts))])
		}
		if r.IntN(3) == 0 {
			m.Paths = some(paths, 1)
		}
		if r.IntN(4) == 0 {
			m.PathSuffixes = some([]string{"/b", "b", ".js"}, 1)
		}
	}
	return routes
}

// TestTheIndexOfRoutesMissesNone of those that a comparison of each route with all others finds.
func TestTheIndexOfRoutesMissesNone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	covered, met := 0, 0
	for range 300 {
		routes := randomRoutes(r, 40)
		index := indexRoutes(routes)
		for i := range routes {
			late := &routes[i].Match
			for j := range routes {
				if routes[j].Match.Covers(late) {
					covered++
					if !slices.Contains(index.covering(late), j) {
						t.Fatalf("%+v is not found for %+v, which it covers", routes[j].Match, *late)
					}
				}
				for _, path := range []string{"/", "/a", "/a/", "/a/b/", "/ab/c"} {
					if !routes[j].Match.TakesPath([]byte(path)) || !routes[j].Match.Meets(late) {
						continue
					}
					met++
					if !slices.Contains(index.meeting(late, path), j) {
						t.Fatalf("%+v is not found for %s at hosts of %+v", routes[j].Match, path, *late)
					}
				}
			}
			if all := index.covering(late); !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
				t.Fatalf("got %v, want routes in their order, each once", all)
			}
		}
	}
	if covered < 10_000 || met < 10_000 {
		t.Errorf("got %d covered and %d met, want more for a test", covered, met)
	}
}

// Each route was compared with all before it, two million times for 2,000 routes.
func TestWarningsComparedEachRouteWithAllOthers(t *testing.T) {
	for name, match := range map[string]func(m *routing.Match, i int){
		"a host each":       func(m *routing.Match, i int) { m.Hosts = []routing.Host{{Name: fmt.Sprintf("h%d.example", i)}} },
		"a path each":       func(m *routing.Match, i int) { m.PathPrefixes = []string{fmt.Sprintf("/p%d", i)} },
		"a whole path each": func(m *routing.Match, i int) { m.Paths = []string{fmt.Sprintf("/p%d/index.html", i)} },
		"a path each of a host": func(m *routing.Match, i int) {
			m.Hosts, m.PathPrefixes = []routing.Host{{Name: "h"}}, []string{fmt.Sprintf("/p%d", i)}
		},
		"ten paths of each host": func(m *routing.Match, i int) {
			m.Hosts, m.PathPrefixes = []routing.Host{{Name: fmt.Sprintf("h%d", i/10)}}, []string{fmt.Sprintf("/p%d", i%10)}
		},
	} {
		const n = 2000
		routes := make([]Route, n)
		for i := range routes {
			routes[i].Match = routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}
			match(&routes[i].Match, i)
		}
		index, compared := indexRoutes(routes), 0
		for i := range routes {
			compared += len(index.covering(&routes[i].Match))
		}
		if compared > 2*n {
			t.Errorf("%s: got %d comparisons for %d routes, want a few each", name, compared, n)
		}
	}
}

func TestALongPathIsInTheIndexByItsBeginning(t *testing.T) {
	long := strings.Repeat("/a", 3*maxSegments)
	routes := []Route{{}, {}, {}}
	for i, path := range []string{long[:4*maxSegments], long + "/", long} {
		routes[i].Match = routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{path}}
	}
	if got := indexRoutes(routes).covering(&routes[2].Match); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("got %v, want all three", got)
	}
}

// TestPlacesAreFoundByTheirPaths, also those of names with dots and of values at the top.
func TestPlacesAreFoundByTheirPaths(t *testing.T) {
	paths := []string{
		"routes", "routes[1]", "routes[12]", "routes[1].match", "routes[1].match.hosts[0]", "origins", "origins.app", "origins.app.servers[0]", `origins["a.b"]`,
		`origins["a.b"].servers`, `origins["a`, "cache.memory.max_bytes", "cache.memory", "total_timeout", "", "listen[0].address",
	}
	all := places{}
	for i, path := range paths {
		all.set(path, place{line: i + 1})
	}
	for i, path := range paths {
		if got, ok := all.at(path); !ok || got.line != i+1 {
			t.Errorf("%s: got line %d, %v, want %d", path, got.line, ok, i+1)
		}
	}
	n := 0
	for path, at := range all.clone().all() {
		if n++; paths[at.line-1] != path {
			t.Errorf("got %s, want %s", path, paths[at.line-1])
		}
	}
	if all.forget("routes[1]"); n != len(paths) {
		t.Errorf("got %d places, want %d", n, len(paths))
	}
	for _, path := range paths {
		if _, ok := all.at(path); ok == within(path, "routes[1]") {
			t.Errorf("%s: got %v after routes[1] was forgotten", path, ok)
		}
	}
}
