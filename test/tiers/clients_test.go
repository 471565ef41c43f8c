package tiers

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// answered reads an answer to its end.
func answered(t testing.TB, res *http.Response) (body string) {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// want asks n for / and compares Cache-Status and the body, which is "a".
func want(t *testing.T, n *node, status string) http.Header {
	t.Helper()
	res := n.get(t, clientFrom(t, 0), "/")
	if got := answered(t, res); got != "a" || caches(res.Header) != status {
		t.Errorf("got %q, %q, want %q and %q", got, caches(res.Header), "a", status)
	}
	return res.Header
}

// TestWhatIsSaidOfBothTiers: an edge's hit tells how the response came to it, the cache closest
// to the origin first, and each edge tells its clients as much as it is set to.
func TestWhatIsSaidOfBothTiers(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Age", "100")
		w.Header().Set("Surrogate-Key", "red")
		_, _ = io.WriteString(w, "a")
	})
	shield := startShield(t, o.url, nil)
	one := startEdge(t, "edge-1", shield.url, settings{edgesStale: stageless})
	none := startEdge(t, "edge-2", shield.url, settings{edgesStale: edgesStale + "\ncache_status: {send: none}"})
	brief := startEdge(t, "edge-3", shield.url, settings{edgesStale: stageless + "\ncache_status: {send: trusted}"})

	want(t, one, "shield; fwd=uri-miss; stored, edge-1; fwd=uri-miss; detail=first-sighting")
	_, asked := o.seen()
	for name, pattern := range map[string]string{
		"Via": `^1\.1 edge-1, 1\.1 shield$`, "Cdn-Loop": `^edge-1; id=\w+, shield; id=\w+$`, "X-Forwarded-Host": "^" + regexp.QuoteMeta(host) + "$",
	} {
		if got := strings.Join(asked.Header.Values(name), ", "); !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("the origin gets %s: %q, want %s", name, got, pattern)
		}
	}
	want(t, one, "shield; hit; ttl, edge-1; fwd=uri-miss; stored")
	h := want(t, one, "shield; hit; ttl, edge-1; hit; ttl")
	if got := strings.Join(h.Values("Via"), ", "); got != "1.1 shield, 1.1 edge-1" || len(h.Values("Cache-Status")) != 1 || h.Get("Surrogate-Key") != "" {
		t.Errorf("got Via %q, Cache-Status %q and Surrogate-Key %q, want both tiers, one line and none", got, h["Cache-Status"], h["Surrogate-Key"])
	}
	if got := h.Get("Age"); len(got) != 3 || got[0] != '1' {
		t.Errorf("got Age %q, want 100 and a little", got)
	}
	for range 3 {
		want(t, none, "")
	}
	want(t, brief, "edge-3; fwd=uri-miss")
	want(t, brief, "edge-3; fwd=uri-miss")
	want(t, brief, "edge-3; hit")
	if times, _ := o.seen(); times != 1 {
		t.Errorf("the origin had %d requests, want 1", times)
	}
}

// TestTheShieldCollapses: edges that ask at the same moment are one request to the origin.
func TestTheShieldCollapses(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	o := startOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = io.WriteString(w, "a")
	})
	shield := startShield(t, o.url, nil)
	var said [2]string
	var all sync.WaitGroup
	for i := range said {
		n, client := startEdge(t, fmt.Sprintf("edge-%d", i+1), shield.url, nil), clientFrom(t, 0)
		all.Go(func() {
			res, err := n.ask(t, client, "/")
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			said[i] = caches(res.Header)
		})
	}
	testkit.Eventually(t, "both edges have asked the shield", func() bool {
		return shield.metrics(t)["edgeproxy_requests_in_flight"] == 2
	})
	close(release)
	all.Wait()
	if times, _ := o.seen(); times != 1 {
		t.Errorf("the origin had %d requests, want 1", times)
	}
	if strings.Count(said[0]+said[1], "shield; fwd=uri-miss; stored; collapsed, ") != 1 {
		t.Errorf("got %q, want one of both to be collapsed at the shield", said)
	}
}

// TestPurgesOfBothTiers: by tag and by URL, the shield first. In the other order the edge fetches
// what is old from the shield.
func TestPurgesOfBothTiers(t *testing.T) {
	t.Parallel()
	version := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=600")
			w.Header().Set("Surrogate-Key", "red")
			_, _ = io.WriteString(w, text)
		}
	}
	o := startOrigin(t, version("1"))
	shield := startShield(t, o.url, nil)
	edge := startEdge(t, "edge-1", shield.url, nil)
	body := func() string { return answered(t, edge.get(t, clientFrom(t, 0), "/a")) }
	body()
	body()
	for n, by := range [][]string{{"--url", "http://" + host + "/a"}, {"--tag", "red"}, {"--prefix", "http://" + host + "/"}, {"--host", host}, {"--all"}} {
		old, fresh := fmt.Sprint(n+1), fmt.Sprint(n+2)
		o.says(version(fresh))
		edge.purge(t, by...)
		if got := body(); got != old {
			t.Errorf("%v at the edge alone: got %q, want the %q of the shield", by, got, old)
		}
		shield.purge(t, by...)
		if got := body(); got != old {
			t.Errorf("%v at the shield after the edge: got %q, want the %q that the edge has again", by, got, old)
		}
		edge.purge(t, by...)
		if got := body(); got != fresh {
			t.Errorf("%v at the shield and then at the edge: got %q, want %q", by, got, fresh)
		}
	}
}

// TestClientsAreToldApartAtTheShield: with trusted_proxies a client's share at the shield is that of
// the client, and the origin hears who it is; without them all that come by one edge are one.
func TestClientsAreToldApartAtTheShield(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("clients have addresses of 127.0.0.0/8")
	}
	t.Parallel()
	few := toOrigin[:len(toOrigin)-1] + ", max_connections: 16}"
	t.Run("trusted", func(t *testing.T) {
		t.Parallel()
		refused, last := sixteenClients(t, settings{toOrigin: few})
		if refused != 0 {
			t.Errorf("got %d of 16 refused, want none", refused)
		}
		if got := last.Header.Get("X-Forwarded-For"); !regexp.MustCompile(`^127\.0\.0\.(1[1-9]|2[0-6]), 127\.0\.0\.1$`).MatchString(got) {
			t.Errorf("the origin gets X-Forwarded-For: %q, want the client and the edge", got)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		if refused, _ := sixteenClients(t, settings{toOrigin: few, trustsEdges: "", "cache: {send_tags: true}": ""}); refused == 0 {
			t.Error("got none refused, want the edge to be held to its share as one client")
		}
	})
	t.Run("no shares", func(t *testing.T) {
		t.Parallel()
		if refused, _ := sixteenClients(t, settings{toOrigin: few, trustsEdges: "", "cache: {send_tags: true}": "limits: {origin_share: 1}"}); refused != 0 {
			t.Errorf("got %d of 16 refused, want none", refused)
		}
	})
}

// sixteenClients ask for something each at the same time, of an origin that has sixteen
// connections and holds them.
func sixteenClients(t *testing.T, s settings) (refused int, last *http.Request) {
	t.Helper()
	release := make(chan struct{})
	o := startOrigin(t, func(http.ResponseWriter, *http.Request) { <-release })
	edge := startEdge(t, "edge-1", startShield(t, o.url, s).url, nil)
	answers := make(chan *http.Response, 16)
	for i := range 16 {
		client := clientFrom(t, byte(11+i))
		go func() {
			res, err := edge.ask(t, client, fmt.Sprintf("/%d", i))
			if err != nil {
				t.Error(err)
			}
			answers <- res
		}()
	}
	testkit.Eventually(t, "each is refused or waits at the origin", func() bool {
		times, _ := o.seen()
		return len(answers)+times == 16
	})
	refused = len(answers)
	close(release)
	for range 16 {
		res := <-answers
		if res == nil {
			continue
		}
		_ = answered(t, res)
		if told := strings.Contains(caches(res.Header), "shield; detail=client-share, edge-1; "); told != (res.StatusCode == http.StatusTooManyRequests) {
			t.Errorf("got %d and %q", res.StatusCode, caches(res.Header))
		}
	}
	_, last = o.seen()
	return refused, last
}
