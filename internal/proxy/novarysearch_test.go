package proxy_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/test/edgetest"
)

// byRule applies what the origin says of queries.
const byRule = "cache: {no_vary_search: true}\n"

// searchRules are what the origin of these tests may say, "" for nothing. It says the
// first more often than all others together.
var searchRules = []string{`params=("u")`, "", `key-order, params=("u")`, `except=("id")`, `params=("u" "id")`, `params=(u)`}

// searchTargets are what clients ask for. Many of them mean the same by some rule.
var searchTargets = []string{
	"/a", "/a?", "/a?u=1", "/a?u=2", "/a?u", "/a?id=1", "/a?id=1&u=1", "/a?u=2&id=1", "/a?%69d=1&u=3", "/a?id=2&u=1", "/a?x=1&id=2", "/a?id=2&x=1",
	"/b?u=1", "/b?u=2", "/b", "/c?u=1",
}

// searchAnswer is one answer of the origin: the number of the request, its target,
// and the rule that it said.
type searchAnswer struct {
	number int64
	target string
	rule   string
}

// answers is the naive model: whether a's own rule lets it answer target, and the origin
// was asked for it without anything that the rule drops.
func (a searchAnswer) answers(target string) bool {
	if a.target == target {
		return true
	}
	path, query, _ := strings.Cut(a.target, "?")
	otherPath, other, _ := strings.Cut(target, "?")
	rule, ok := rfc9111.ParseNoVarySearch(field.List{{Name: "No-Vary-Search", Value: a.rule}})
	return ok && path == otherPath && query == string(rule.AppendQuery(nil, []byte(other)))
}

// searchOrigin answers with what it is, and counts.
func searchOrigin(tb testing.TB, count *atomic.Int64) (address string) {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := count.Add(1)
		rule := searchRules[0]
		if i := rand.N(4 * len(searchRules)); i < len(searchRules) {
			rule = searchRules[i]
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		if rule != "" {
			w.Header().Set("No-Vary-Search", rule)
		}
		_, _ = fmt.Fprintf(w, "%d\n%s\n%s", n, r.RequestURI, rule)
	}))
	tb.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func askSearch(client *http.Client, address, method, target string) (a searchAnswer, err error) {
	u, err := url.Parse("http://" + address + target)
	if err != nil {
		return a, err
	}
	res, err := client.Do(&http.Request{Method: method, URL: u, Host: "edge.test"})
	if err != nil {
		return a, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return a, err
	}
	lines := strings.SplitN(string(body), "\n", 3)
	if len(lines) != 3 {
		return a, fmt.Errorf("body %q", body)
	}
	_, err = fmt.Sscan(lines[0], &a.number)
	a.target, a.rule = lines[1], lines[2]
	return a, err
}

// forgotten is a target that was forgotten when the origin had answered so often.
type forgotten struct {
	target string
	number int64
}

// forgets are those whose purge, or unsafe request, has its answer.
type forgets struct {
	mu   sync.Mutex
	done []forgotten
}

func (f *forgets) add(g forgotten) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, g)
}

func (f *forgets) list() []forgotten {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// check holds an answer to a request for target against the model; done is what was
// forgotten before the request. What answers its own target may be stored for that
// alone; what answers another is reached by all its names.
func (a searchAnswer) check(target string, done []forgotten) error {
	if !a.answers(target) {
		return fmt.Errorf("%s got the answer to %s, whose rule is %q", target, a.target, a.rule)
	}
	for _, f := range done {
		if a.number <= f.number && (f.target == target || a.target != target && a.answers(f.target)) {
			return fmt.Errorf("%s got answer %d to %s, whose rule is %q: %s was forgotten after %d answers", target, a.number, a.target, a.rule, f.target, f.number)
		}
	}
	return nil
}

// searchClient asks, and now and then makes the edge forget.
type searchClient struct {
	http   *http.Client
	edge   *edgetest.Edge
	random *rand.Rand
	count  *atomic.Int64 // the origin's
	done   *forgets
}

func (c *searchClient) step() error {
	asked := searchTargets[c.random.IntN(len(searchTargets))]
	target := string(wire.AppendNormal(nil, []byte(asked))) // which all spellings of it are
	before := c.count.Load()
	switch c.random.IntN(40) {
	case 0:
		_, _, err := c.edge.Proxy.Purge("url", []string{"http://edge.test" + asked}, c.random.IntN(4) == 0)
		c.done.add(forgotten{target, before})
		return err
	case 1:
		_, err := askSearch(c.http, c.edge.Address, http.MethodDelete, asked)
		c.done.add(forgotten{target, before})
		return err
	}
	done := c.done.list()
	a, err := askSearch(c.http, c.edge.Address, http.MethodGet, asked)
	if err != nil {
		return err
	}
	return a.check(target, done)
}

// TestQueriesShareAnAnswerOnlyByItsOwnRule lets requests, purges and unsafe methods
// run into each other, while the origin says now this rule and now that. Two URLs may
// share an answer only if its rule says that they mean the same, and what they share is
// forgotten under any name of it.
func TestQueriesShareAnAnswerOnlyByItsOwnRule(t *testing.T) {
	f := func(name, yaml string, marks purge.Options, clients, steps int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			var count atomic.Int64
			var done forgets
			e := start(t, yaml, edgetest.Options{Origin: searchOrigin(t, &count), Seams: edge.Seams{Marks: marks}})
			var asking sync.WaitGroup
			for n := range clients {
				asking.Go(func() {
					c := &searchClient{http: &http.Client{Transport: &http.Transport{}}, edge: e, random: rand.New(rand.NewPCG(3, uint64(n))), count: &count, done: &done}
					defer c.http.CloseIdleConnections()
					for range steps {
						if err := c.step(); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			asking.Wait()
			if hits := e.Metric(t, "edgeproxy_requests_total", "route=default", "result=hit", "status=2xx"); hits < float64(clients*steps/10) {
				t.Errorf("got %v hits of %d requests: this proves little", hits, clients*steps)
			}
		})
	}

	f("one client", always+byRule, purge.Options{}, 1, 1500)
	f("together", always+byRule, purge.Options{}, 8, 300)
	f("selectors", always+"cache: {no_vary_search: true, key: {headers: [X-Lang]}}", purge.Options{}, 8, 300)
	f("few marks", always+byRule, purge.Options{Tags: 2, URLs: 2, Hosts: 2, Prefixes: 2}, 8, 300)
	f("second-hit with a stage", byRule, purge.Options{}, 8, 300)
}

// A query of more parameters than are taken apart is compared as it stands.
func TestQueriesOfManyParametersAreExact(t *testing.T) {
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("No-Vary-Search", `except=()`)
		_, _ = fmt.Fprintf(w, "%d\n%s\n", count.Add(1), r.RequestURI)
	}))
	t.Cleanup(server.Close)
	e := start(t, always+byRule, edgetest.Options{Origin: server.Listener.Addr().String()})
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	f := func(target string, want int64) {
		t.Helper()
		if a, err := askSearch(client, e.Address, http.MethodGet, target); err != nil || a.number != want {
			t.Errorf("%.20s...: got answer %d, %v; want %d", target, a.number, err, want)
		}
	}

	const most = 256
	f("/a", 1)
	f("/a?"+strings.Repeat("a=1&", most), 1)
	f("/a?"+strings.Repeat("a=1&", most+1), 2)
	f("/a?"+strings.Repeat("a=1&", most+1), 2)
	f("/a?"+strings.Repeat("a=2&", most+1), 3)
	f("/a?x=1", 1)
}

// A request that has looked before the response taught its rule, and leads when it is stored, finds
// it by that rule.
func TestAResponseWithANewQueryRuleIsFetchedOnce(t *testing.T) {
	const rounds, clients = 100, 16
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("No-Vary-Search", `params=("u")`)
		_, _ = fmt.Fprintf(w, "%d\n%s\n", count.Add(1), r.RequestURI)
	}))
	t.Cleanup(server.Close)
	e := start(t, always+byRule, edgetest.Options{Origin: server.Listener.Addr().String()})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	t.Cleanup(client.CloseIdleConnections)
	for round := range rounds {
		var asking sync.WaitGroup
		for range clients {
			asking.Go(func() {
				if _, err := askSearch(client, e.Address, http.MethodGet, fmt.Sprintf("/%d?u=1", round)); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
	}
	if got := count.Load(); got != rounds {
		t.Errorf("got %d requests at the origin for %d targets, want one for each", got, rounds)
	}
}
