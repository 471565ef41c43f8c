package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/routing"
	edgetest "edgeproxy/internal/test/oldrig"
	"edgeproxy/internal/test/testkit"
)

// keysOfRoutes are rules for queries that a route may have: none, and such as drop or sort away what routes go by.
var keysOfRoutes = []cachekey.Options{
	{},
	{IgnoreQuery: []string{"a"}},
	{IgnoreQuery: []string{"a", "b"}, SortQuery: true},
	{IgnoreQuery: []string{"*"}},
	{OnlyQuery: []string{"b"}},
	{OnlyQuery: []string{"id"}},
	{SortQuery: true},
	{IgnoreQuery: []string{"id"}},
}

// routesByQuery are a route by two parameters, one by each of them, and, as edgetest has it, one for the rest. Each has rules for keys
// of its own.
func routesByQuery(t *testing.T, r *rand.Rand) (out []edgetest.OtherRoute, said []cachekey.Options) {
	t.Helper()
	one, there := routing.ValueMatch{Name: "a", Value: []byte("1")}, routing.ValueMatch{Name: "b", AnyBefore: true, AnyBehind: true}
	for i, query := range [][]routing.ValueMatch{{one, there}, {one}, {there}} {
		o := keysOfRoutes[r.IntN(len(keysOfRoutes))]
		out, said = append(out, edgetest.OtherRoute{
			Name: []string{"both", "one", "any"}[i], Change: []func(*proxy.Route){func(r *proxy.Route) { r.Query, r.Key = query, o }},
		}), append(said, o)
	}
	return out, said
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
	routes, said := routesByQuery(t, r)
	last := keysOfRoutes[r.IntN(len(keysOfRoutes))]
	count := new(atomic.Int64)
	app := routeOrigin(count)
	o := edgetest.Options{
		Rule: oldAlways(), Key: last, NoVarySearch: seed%2 == 0, Route: "rest", Routes: routes, PurgeFrom: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
	if seed%3 == 0 {
		o.SliceBytes = 4
	}
	o.Origin.Address = app.Listener.Addr().String()
	e := startOld(t, o)
	t.Cleanup(app.Close)
	s, hits := dial(t, e.Address), 0
	for range 400 {
		target := "/x?" + routeQuery(r)
		about := fmt.Sprintf("%d: keys %+v, and %+v of the rest: %s", seed, said, last, target)
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
	key := cachekey.Options{IgnoreQuery: []string{"b"}}
	beta := edgetest.OtherRoute{Name: "beta", Change: []func(*proxy.Route){func(r *proxy.Route) {
		r.Query, r.Key = []routing.ValueMatch{{Name: "b", Value: []byte("1")}}, key
	}}}
	o := edgetest.Options{Rule: oldAlways(), Route: "rest", Routes: []edgetest.OtherRoute{beta}}
	o.Origin.Address = origin.Listener.Addr().String()
	e := startOld(t, o)
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
