package proxy_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// hitAllocs is the committed number for one hit, from the first byte of the
// request to the last of the answer, connection included.
const hitAllocs = 0

// samples is how many look-ups ristretto collects before it allocates anew: that
// one allocation in samples hits is not of the path.
const samples = 64

func TestHitAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	f := func(name string, request []byte) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			e := start(t, "cache: {no_vary_search: true}", hitOrigin(t))
			_ = newHitClient(t, e.Address, hitRequest(http.MethodGet, searchNormal, ""))
			c := newHitClient(t, e.Address, request)
			if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
				t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
			}
		})
	}

	f("1 KiB", hitRequest(http.MethodGet, "/1024", ""))
	f("16 KiB, a vector", hitRequest(http.MethodGet, "/16384", ""))
	f("256 KiB", hitRequest(http.MethodGet, "/262144", ""))
	f("no body", hitRequest(http.MethodGet, "/0", ""))
	f("HEAD", hitRequest(http.MethodHead, "/1024", ""))
	f("through a shield", hitRequest(http.MethodGet, "/shield/1024", ""))
	f("a variant", hitRequest(http.MethodGet, "/vary/1024", ""))
	f("a query and escapes", hitRequest(http.MethodGet, "/1024%20a?q=%2F&r=s", ""))
	f("another spelling", hitRequest(http.MethodGet, "/%31024%7e\xc3\xa9?q=%2f&r=%73", ""))
	f("a query that means the same", hitRequest(http.MethodGet, searchTarget, ""))
	f("a condition that holds", hitRequest(http.MethodGet, "/1024", "If-None-Match: \"a\", "+hitETag+"\r\n"))
	f("a date that holds", hitRequest(http.MethodGet, "/1024", "If-Modified-Since: "+hitModified+"\r\n"))
	f("a condition that fails", hitRequest(http.MethodGet, "/1024", "If-None-Match: \"a\"\r\n"))
	f("a range", hitRequest(http.MethodGet, "/16384", "Range: bytes=100-199\r\n"))
	f("a range that cannot be", hitRequest(http.MethodGet, "/1024", "Range: bytes=5000-\r\n"))
	f("directives", hitRequest(http.MethodGet, "/1024", "Cache-Control: max-age=1000, min-fresh=1\r\n"))
}

// A connection that had sent an upload stayed with fasthttp.
func TestHitAfterAnUploadAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	for name, upload := range uploadsBefore {
		t.Run(name, func(t *testing.T) {
			e := start(t, "cache: {no_vary_search: true}", hitOrigin(t))
			c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
			if status := c.learn(t, []byte(upload)); !strings.Contains(status, "fwd=method") {
				t.Fatalf("Cache-Status of the upload: got %q", status)
			}
			if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
				t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
			}
		})
	}
}

// The log goes to a file, as an operator's does, and its fields are those of a browser and of a client that traces.
func TestHitThatIsLoggedAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	for _, format := range []string{"json", "combined", `template, template: "{time} {client} {target} {user_agent} {trace_id} {duration}"`} {
		t.Run(format[:len("json")], func(t *testing.T) {
			e := start(t, `access_log: {path: "{dir}/access.log", format: `+format+"}", hitOrigin(t))
			request := hitRequest(http.MethodGet, "/1024", "User-Agent: Mozilla/5.0\r\nReferer: http://a/\r\nX-Request-Id: r-1\r\nTraceparent: "+clientSampled+"\r\n")
			// The two buffers of the queue grow until they have room for what comes between two writes.
			if got, most := allocsPerHit(t, newHitClient(t, e.Address, request)), hitAllocs+1.5/samples+0.05; got > most {
				t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
			}
			if n := e.Metric(t, "edgeproxy_log_dropped_total", "log=access"); n > 0 {
				t.Errorf("%v lines were dropped", n)
			}
		})
	}
}

// Tracing that is on costs a hit that is not traced a lot, and no memory, whatever a client says.
func TestHitThatIsNotTracedAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `tracing: {endpoint: "http://127.0.0.1:9", sample: 1e-12}`, hitOrigin(t))
	request := hitRequest(http.MethodGet, "/1024", "Traceparent: "+clientSampled+"\r\n")
	if got, most := allocsPerHit(t, newHitClient(t, e.Address, request)), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitOfARouteByFieldsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	long := strings.Repeat("a value that is longer than a small buffer, ", 3)
	e := start(t, fmt.Sprintf(`routes:
- {name: fields, origin: app, match: {methods: [GET], headers: {X-Other: "*%s*", X-Own: "first, %s*", Cookie: "*"}}}
- {name: rest, origin: app}
`, long, long[:60]), hitOrigin(t))
	request := hitRequest(http.MethodGet, "/1024", "X-Own: first\r\nX-Own: "+long+"x\r\nX-Other: first\r\nX-Other: "+long+"x\r\nCookie: a=b\r\n")
	conn, err := net.Dial("tcp", e.Address)
	if err != nil {
		t.Fatal(err)
	}
	(&hitClient{conn: conn}).learn(t, request) // a plain request has another route, and so another key
	c := newHitClientOn(t, conn, request)
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
	if n := e.Metric(t, "edgeproxy_requests_total", "route=fields", "result=hit", "status=2xx"); n == 0 {
		t.Error("got no hits of the route, want all")
	}
}

func TestHitOfARouteByQueryAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `routes:
- {name: query, origin: app, match: {query: {n: "last one*", "a b": "*"}}, cache: {key: {ignore_query: [n]}}}
- {name: rest, origin: app}
`, hitOrigin(t))
	target := "/1024?a+b&" + strings.Repeat("%6e=%6dany+a+one&", 300) + "n=%6Cast+one"
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, target, ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
	if n := e.Metric(t, "edgeproxy_requests_total", "route=query", "result=hit", "status=2xx"); n == 0 {
		t.Error("got no hits of the route, want all")
	}
}

func TestHitOfARouteByListsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	const path = "/1024/a-path-that-is-longer-than-a-small-buffer.js"
	e := start(t, `routes:
- {name: lists, origin: app, match: {path: [/2/a.css, `+path+`], path_prefix: [/2, /1024], path_suffix: [.css, .js]}}
`, hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, path, ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitOfAUserAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "routes:\n"+annsRoute(t, "/"), hitOrigin(t))
	conn, err := net.Dial("tcp", e.Address)
	if err != nil {
		t.Fatal(err)
	}
	request := hitRequest(http.MethodGet, "/1024", asAnn)
	(&hitClient{conn: conn}).learn(t, request) // a request of nobody is refused
	c := newHitClientOn(t, conn, request)
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitOfARewrittenRouteAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	const prefix = "/a-prefix-that-is-longer-than-a-small-buffer"
	e := start(t, `routes:
- {name: api, origin: app, match: {path_prefix: `+prefix+`}, rewrite: {strip_prefix: `+prefix+`}}
`, hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, prefix+"/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

// What lies in one slice is sent from there; there are two look-ups, of the whole and of
// the slice.
func TestHitInASliceAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "cache: {slice: 64KiB}", edgetest.Options{Origin: newFilmOrigin(t, 1<<20).address})
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/film", "Range: bytes=70000-71023\r\n"))
	if got, most := allocsPerHit(t, c), hitAllocs+2.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitWithoutCacheStatusDetailsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "cache_status: {send: trusted, trusted: [203.0.113.0/24]}", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitBesideChallengesAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, ordersCertificates, hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitWithinARateAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "limits: {rate: {requests: 1000000}}", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

// Once something was purged, each hit born before it is held against every kind of
// mark.
func TestHitAfterPurgesAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, "", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/vary/1024", ""))
	purgeOthers(t, e)
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitBehindATrustedProxyAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `listen: [{address: "127.0.0.1:0", trusted_proxies: [127.0.0.0/8]}]`, hitOrigin(t))
	for _, fields := range []string{
		"X-Forwarded-For: 6.6.6.6, 2001:db8::1, 127.0.0.2\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: Example.com:80\r\n",
		"Forwarded: for=\"[2001:db8::1]\";proto=http;host=example.com, for=127.0.0.2\r\n",
	} {
		c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", fields))
		if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
			t.Errorf("%q: got %.4f allocations a hit, want at most %.4f", fields, got, most)
		}
	}
}

func TestHitBehindPROXYAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `listen: [{address: "127.0.0.1:0", proxy_protocol: true, trusted_proxies: [192.0.2.0/24]}]`, hitOrigin(t))
	conn, err := net.Dial("tcp", e.Address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "PROXY TCP4 192.0.2.1 10.0.0.1 56789 80\r\n"); err != nil {
		t.Fatal(err)
	}
	c := newHitClientOn(t, conn, hitRequest(http.MethodGet, "/16384", "X-Forwarded-For: 6.6.6.6\r\n"))
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitWithKeyRulesAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `cache: {key: {
  ignore_query: ["utm_*", fbclid], sort_query: true, headers: [Accept-Language, X-A-Field-With-A-Name-Beyond-Thirty-Two], cookies: [theme],
}}`, hitOrigin(t))
	request := hitRequest(http.MethodGet, "/vary/1024?utm_source=a&b=2&a=1&%66bclid=x", "Cookie: id=17; theme=dark\r\n")
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	c.request = request
	c.learn(t, request)
	if status := c.learn(t, request); !strings.HasPrefix(status, edgetest.Node+"; hit") {
		t.Fatalf("Cache-Status of the second answer: got %q, want a hit", status)
	}
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

func TestHitWithRulesForFieldsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	e := start(t, `
cache: {strip_cookies: ["_ga*"], bypass: {headers: [X-Preview], cookies: [session]}, key: {headers: [Accept-Language, X-Kind]}}
headers: {request: {remove: [X-Debug, X-Internal-*], set: {X-Edge: "1", X-Real-Ip: "{client}", X-Request-Id: "{request_id}", X-Url: "{uri}"}}}
`, hitOrigin(t))
	request := hitRequest(http.MethodGet, "/vary/1024",
		"Cookie: _ga=1; theme=dark; _ga_X=2\r\nX-Debug: 1\r\nX-Kind: a\r\nX-Kind: b\r\nAccept-Language: EN-us,de;q=0.5\r\nX_Y: 1\r\n")
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1024", ""))
	c.request = request
	c.learn(t, request)
	if status := c.learn(t, request); !strings.HasPrefix(status, edgetest.Node+"; hit; ") {
		t.Fatalf("Cache-Status of the second answer: got %q, want a hit", status)
	}
	if got, most := allocsPerHit(t, c), hitAllocs+1.5/samples; got > most {
		t.Errorf("got %.4f allocations a hit, want at most %.4f", got, most)
	}
}

// allocsPerHit counts for the whole process, where the origin rests, and the client allocates nothing. It returns the least
// of some rounds: what hits allocate is in every round, and what a timer allocates is not. It does not round, as
// AllocsPerRun does: an allocation in every tenth hit is one too many as well.
func allocsPerHit(t *testing.T, c *hitClient) float64 {
	t.Helper()
	const warm, rounds = 200, 3
	hits := testkit.Times(32, 6) * samples
	for range warm {
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC() // empties pools now and not in the middle
	for range warm {
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
	}
	least := math.Inf(1)
	for range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range hits {
			if err := c.ask(); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/float64(hits))
	}
	return least
}
