package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// keysOfRoutes are rules for queries that a route may have: none, and such as drop or sort away what routes go by.
var keysOfRoutes = []string{
	"{}", "{ignore_query: [a]}", "{ignore_query: [a, b], sort_query: true}", `{ignore_query: ["*"]}`, "{only_query: [b]}", "{only_query: [id]}", "{sort_query: true}",
	"{ignore_query: [id]}",
}

// routeByQuery is a route of which the origin is told.
func routeByQuery(name, query, key string) (yaml string) {
	return fmt.Sprintf("- {name: %[1]s, origin: app, match: {query: %[2]s}, cache: {key: %[3]s}, headers: {request: {set: {X-Route: %[1]s}}}}\n", name, query, key)
}

// routesByQuery are a route by two parameters, one by each of them, and one for the rest. Each has rules for keys of its own.
func routesByQuery(r *rand.Rand) (yaml string) {
	yaml = "routes:\n"
	for _, route := range [][2]string{{"both", `{a: "1", b: "*"}`}, {"one", `{a: "1"}`}, {"any", `{b: "*"}`}, {"rest", "{}"}} {
		yaml += routeByQuery(route[0], route[1], keysOfRoutes[r.IntN(len(keysOfRoutes))])
	}
	return yaml
}

// wantRoute is which of routesByQuery a well-formed query has.
func wantRoute(query string) string {
	values, _ := url.ParseQuery(query)
	switch one, there := slices.Contains(values["a"], "1"), values.Has("b"); {
	case one && there:
		return "both"
	case one:
		return "one"
	case there:
		return "any"
	}
	return "rest"
}

// routeQuery is a query as clients may write it.
func routeQuery(r *rand.Rand) string {
	var pieces []string
	for range r.IntN(5) {
		pieces = append(pieces, []string{"a=1", "%61=1", "a=%31", "a=2", "a", "A=1", "b", "b=1", "%62=", "id=1", "id=2", "", "a%3D1", "=b", "id=a%261"}[r.IntN(15)])
	}
	return strings.Join(pieces, "&")
}

// routeOrigin answers with the route that asks, and counts. Now and then it says which parameters do not matter.
func routeOrigin(count *atomic.Int64) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		if n := count.Load(); n%3 == 0 {
			w.Header().Set("No-Vary-Search", []string{`params=("a")`, `params=("b" "a")`, "key-order", `except=("id")`}[n%4])
		}
		_, _ = fmt.Fprintf(w, "%s %d", r.Header.Get("X-Route"), count.Add(1))
	}))
}

// TestNoRouteByQueryAnswersForAnother: routes that only the query tells apart, whatever their rules for keys and for queries.
// What a purge names is forgotten, by whichever route it is stored.
func TestNoRouteByQueryAnswersForAnother(t *testing.T) {
	for seed := range testkit.Times(12, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			playRoutesByQuery(t, uint64(seed)) //nolint:gosec // it is at least 0
		})
	}
}

func playRoutesByQuery(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	yaml := fmt.Sprintf("%spurge: {allow: [127.0.0.0/8]}\ncache: {no_vary_search: %v}\n%s", always, seed%2 == 0, routesByQuery(r))
	count := new(atomic.Int64)
	app := routeOrigin(count)
	t.Cleanup(app.Close)
	e := start(t, yaml, edgetest.Options{Origin: app.Listener.Addr().String(), Adjust: func(c *config.Config) {
		for i := range c.Routes {
			if seed%3 == 0 {
				c.Routes[i].Cache.SliceBytes = 4
			}
		}
	}})
	s, hits := dial(t, e.Address), 0
	for range 400 {
		target := "/x?" + routeQuery(r)
		about := fmt.Sprintf("%d: %s%s", seed, yaml, target)
		before := count.Load()
		purged := forgetSome(t, r, e, s, target)
		var route string
		var number int64
		a := s.ask(asGet(target))
		if _, err := fmt.Sscan(a.body, &route, &number); err != nil {
			t.Fatalf("%s: got %q: %v", about, a.body, err)
		}
		if want := wantRoute(target[3:]); route != want {
			t.Fatalf("%s: got the answer of %s, want that of %s", about, route, want)
		}
		in, release, err := e.Proxy.Inspect(proxy.Question{Method: http.MethodGet, URL: "http://edge.test" + target})
		if err != nil {
			t.Fatal(err)
		}
		if release(); in.Route != route {
			t.Fatalf("%s: looked up on %s, and asked on %s", about, in.Route, route)
		}
		if number <= before {
			hits++
		}
		if purged && number <= before {
			t.Fatalf("%s: got answer %d of before the purge", about, number)
		}
	}
	if hits < 20 {
		t.Errorf("got %d hits, want more for a test", hits)
	}
}

// forgetSome purges target now and then, in each of the ways.
func forgetSome(t *testing.T, r *rand.Rand, e *edgetest.Edge, s *socket, target string) bool {
	t.Helper()
	way := r.IntN(16)
	switch way {
	case 0:
		if a := s.ask(strings.Replace(asGet(target), "GET", "PURGE", 1)); a.status != 200 {
			t.Fatalf("PURGE: got %d", a.status)
		}
	case 1, 2:
		by, value := "url", "http://edge.test"+target
		if way == 2 {
			by, value = "prefix", value[:len(value)-r.IntN(len(target)-2)]
		}
		if _, _, err := e.Proxy.Purge(by, []string{value}, false); err != nil {
			t.Fatal(err)
		}
	case 3:
		s.ask("POST " + target + " HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n")
	}
	return way < 4
}

// A purge of a URL takes what a route by query has stored under the same URL without its parameter, and finds none of it to count.
func TestAPurgeThatTakesMoreThanItFindsCountsNothing(t *testing.T) {
	var asked atomic.Int64
	origin := routeOrigin(&asked)
	defer origin.Close()
	routes := "routes:\n" + routeByQuery("beta", `{b: "1"}`, "{ignore_query: [b]}") + routeByQuery("rest", "{}", "{}")
	e := start(t, always+routes, edgetest.Options{Origin: origin.Listener.Addr().String()})
	s := dial(t, e.Address)
	before := s.ask(asGet("/x?b=1")).body
	switch objects, counted, err := e.Proxy.Purge("url", []string{"http://edge.test/x"}, false); {
	case err != nil:
		t.Fatal(err)
	case counted:
		t.Errorf("got a count of %d objects, want none", objects)
	}
	if after := s.ask(asGet("/x?b=1")).body; after == before {
		t.Errorf("got %q again, want another answer: the mark is for both", after)
	}
}
