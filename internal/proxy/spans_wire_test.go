package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

const (
	clientTrace   = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan    = "00f067aa0ba902b7"
	clientSampled = "00-" + clientTrace + "-" + clientSpan + "-01"
	notSampled    = "00-" + clientTrace + "-" + clientSpan + "-00"
)

// traced is an edge whose spans a receiver gets, before an origin that notes who its parents are.
type traced struct {
	*edgetest.Edge
	t        *testing.T
	receiver *testkit.SpanReceiver
	endpoint string // the address of the receiver

	mu   sync.Mutex
	told []string // each request that the origin got: its traceparent and its tracestate
}

// traces has so many requests a second traced, and this share of them.
func traces(share float64, most int) (yaml string) {
	return fmt.Sprintf("tracing: {endpoint: \"{receiver}\", sample: %v, most_per_second: %d}\n", share, most)
}

// newTraced starts one that stores what is storable, and traces every request unless yaml says how many. answer is the origin's; nil is a body
// of five bytes that may be stored.
func newTraced(t *testing.T, yaml string, answer http.HandlerFunc) *traced {
	t.Helper()
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=600")
			_, _ = io.WriteString(w, "whole")
		}
	}
	e := &traced{t: t, receiver: testkit.NewSpanReceiver(t)}
	at := httptest.NewServer(e.receiver)
	t.Cleanup(at.Close)
	e.endpoint = at.URL
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.told = append(e.told, strings.Join(r.Header.Values("Traceparent"), "+")+" "+r.Header.Get("Tracestate"))
		e.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(backend.Close)
	e.Edge = start(t, e.complete(yaml), edgetest.Options{Origin: strings.TrimPrefix(backend.URL, "http://")})
	return e
}

// complete adds to yaml what it does not say.
func (e *traced) complete(yaml string) string {
	if !strings.Contains(yaml, "admission:") {
		yaml = always + yaml
	}
	if !strings.Contains(yaml, "tracing:") {
		yaml = traces(1, 100) + yaml
	}
	return strings.ReplaceAll(yaml, "{receiver}", e.endpoint)
}

// send sends a request on a connection of its own, which is closed at the end of the test.
func (e *traced) send(head string) net.Conn {
	e.t.Helper()
	conn, err := net.Dial("tcp", e.Address)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, head+"Host: shop.example:8080\r\nConnection: close\r\n\r\n")
	return conn
}

// ask sends a request on a connection of its own, and returns its status.
func (e *traced) ask(head string) int {
	e.t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(e.send(head)), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// all stops the edge, once no request is under way, and returns the spans. It holds them to
// what is true of any: an id is of one span, a parent is there or is a client's, and no part is longer
// than what it is a part of.
func (e *traced) all() []testkit.Span {
	e.t.Helper()
	testkit.Eventually(e.t, "no request is under way", func() bool { return e.Proxy.InFlight() == 0 })
	e.Stop()
	list := e.receiver.Spans()
	wantWellFormed(e.t, list)
	return list
}

// wantWellFormed holds spans to what is true of any.
func wantWellFormed(t *testing.T, list []testkit.Span) {
	t.Helper()
	byID := map[string]testkit.Span{}
	for _, s := range list {
		if _, twice := byID[s.ID]; twice || len(s.ID) != 16 || len(s.Trace) != 32 || s.End.Before(s.Start) {
			t.Errorf("%+v: not a span of its own", s)
		}
		byID[s.ID] = s
	}
	for _, s := range list {
		above, ok := byID[s.Parent]
		switch {
		case s.Kind == "SERVER" && (s.Parent == "" || s.Parent == clientSpan):
		case !ok || above.Trace != s.Trace || s.Start.Before(above.Start):
			t.Errorf("%+v: its parent is %+v", s, above)
		case s.Kind == "INTERNAL" && above.Kind == "CLIENT" && s.End.After(above.End):
			t.Errorf("%+v: longer than %+v", s, above)
		}
	}
}

// named returns the spans of a kind and a name.
func named(list []testkit.Span, kind, name string) (out []testkit.Span) {
	for _, s := range list {
		if s.Kind == kind && s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// one returns the only span of a kind and a name.
func one(t *testing.T, list []testkit.Span, kind, name string) testkit.Span {
	t.Helper()
	found := named(list, kind, name)
	if len(found) != 1 {
		t.Fatalf("got %d spans %s %s, want one: %+v", len(found), kind, name, list)
	}
	return found[0]
}

// want holds the attributes of s to pairs of a key and a value; "" is none.
func want(t *testing.T, s testkit.Span, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := s.Attributes[pairs[i]]; got != pairs[i+1] {
			t.Errorf("%s %s: %s: got %q, want %q", s.Kind, s.Name, pairs[i], got, pairs[i+1])
		}
	}
}

func TestMissAndHitHaveTheirSpans(t *testing.T) {
	e := newTraced(t, "", nil)
	const asks = "GET /a/b?x=1&sig=of-a-secret HTTP/1.1\r\nUser-Agent: test\r\n"
	e.ask(asks + "Traceparent: " + clientSampled + "\r\nTracestate: a=b\r\n")
	e.ask(asks)
	list := e.all()
	servers := named(list, "SERVER", "GET")
	if len(servers) != 2 {
		t.Fatalf("got %+v", list)
	}
	miss, hit := servers[0], servers[1]
	if miss.Attributes["edgeproxy.result"] == "hit" {
		miss, hit = hit, miss
	}
	fetch := one(t, list, "CLIENT", "GET")
	if miss.Trace != clientTrace || miss.Parent != clientSpan || fetch.Parent != miss.ID || len(list) != 7 {
		t.Errorf("got %d spans, %+v and %+v", len(list), miss, fetch)
	}
	if got, wants := e.told[0], "00-"+clientTrace+"-"+fetch.ID+"-01 a=b"; got != wants {
		t.Errorf("the origin: got %q, want %q", got, wants)
	}
	for _, part := range []string{"connect", "first_byte", "body"} {
		if s := one(t, list, "INTERNAL", part); s.Parent != fetch.ID {
			t.Errorf("%s: got parent %s", part, s.Parent)
		}
	}
	if s := one(t, list, "INTERNAL", "store"); s.Parent != miss.ID {
		t.Errorf("store: got parent %s, want the request", s.Parent)
	}
	want(t, miss, "http.request.method", "GET", "url.scheme", "http", "url.path", "/a/b", "url.query", "x=1&sig=REDACTED", "server.address", "shop.example",
		"server.port", "8080", "client.address", "127.0.0.1", "network.peer.address", "127.0.0.1", "network.protocol.version", "1.1", "user_agent.original", "test",
		"http.response.status_code", "200", "http.response.body.size", "5", "error.type", "",
		"edgeproxy.result", "miss", "edgeproxy.route", "default", "edgeproxy.reason", "", "edgeproxy.cache.tier", "", "edgeproxy.collapsed", "")
	host, port, _ := net.SplitHostPort(fetch.Attributes["network.peer.address"] + ":" + fetch.Attributes["network.peer.port"])
	if host != "127.0.0.1" || port == "" {
		t.Errorf("the server: got %q", fetch.Attributes)
	}
	want(t, fetch, "http.request.method", "GET", "url.full", "http://shop.example:8080/a/b?x=1&sig=REDACTED", "server.address", "shop.example", "server.port", "8080",
		"http.response.status_code", "200", "edgeproxy.origin", "app", "edgeproxy.route", "default", "error.type", "", "http.request.resend_count", "")
	if hit.Parent != "" || hit.Trace == clientTrace || miss.Failed || fetch.Failed {
		t.Errorf("got %+v", hit)
	}
	tier := "memory"
	if e.Disk() != nil { // then it is where a response is written first
		tier = "disk"
	}
	want(t, hit, "edgeproxy.result", "hit", "edgeproxy.cache.tier", tier, "edgeproxy.ttl", "599", "http.response.status_code", "200")
}

// Who is not trusted chooses the trace that its requests belong to, and not that they are traced.
func TestWhoDecidesWhatIsTraced(t *testing.T) {
	f := func(name, listen string, share float64, field string, traced bool, parent string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			e := newTraced(t, listen+traces(share, 100), nil)
			e.ask("GET / HTTP/1.1\r\n" + field + "Tracestate: a=b\r\n")
			servers := named(e.all(), "SERVER", "GET")
			if len(servers) != 0 != traced {
				t.Fatalf("got %+v, want it traced: %v", servers, traced)
			}
			if !traced { // all goes on as it came
				_, value, _ := strings.Cut(strings.TrimSuffix(field, "\r\n"), ": ")
				if wants := value + " a=b"; e.told[0] != wants {
					t.Errorf("the origin: got %q, want %q", e.told[0], wants)
				}
				return
			}
			if servers[0].Parent != parent {
				t.Errorf("got parent %q, want %q", servers[0].Parent, parent)
			}
			if begins := parent == ""; begins == strings.HasSuffix(e.told[0], " a=b") {
				t.Errorf("the origin: got %q: tracestate is of the trace it came with", e.told[0])
			}
		})
	}
	f("trusted, sampled", behindProxies, 0, "Traceparent: "+clientSampled+"\r\n", true, clientSpan)
	f("trusted, not sampled", behindProxies, 1, "Traceparent: "+notSampled+"\r\n", false, "")
	f("trusted, without", behindProxies, 1, "", true, "")
	f("trusted, without, not drawn", behindProxies, 0, "", false, "")
	f("trusted, invalid", behindProxies, 0, "Traceparent: 00-bad-01\r\n", false, "")
	f("sampled", "", 0, "Traceparent: "+clientSampled+"\r\n", false, "")
	f("sampled and drawn", "", 1, "Traceparent: "+clientSampled+"\r\n", true, clientSpan)
	f("not sampled, drawn", "", 1, "Traceparent: "+notSampled+"\r\n", true, clientSpan)
	f("drawn", "", 1, "", true, "")
	f("invalid, drawn", "", 1, "Traceparent: "+clientSampled+"x\r\n", true, "")
}

func TestNoMoreThanTheLimitAreTraced(t *testing.T) {
	e := newTraced(t, behindProxies+traces(1, 2), nil)
	begun := time.Now()
	const asked = 20
	for range asked {
		e.ask("GET / HTTP/1.1\r\nTraceparent: " + clientSampled + "\r\n")
	}
	most := 2 * (int(time.Since(begun)/time.Second) + 2)
	if got := len(named(e.all(), "SERVER", "GET")); got < 2 || got > most {
		t.Errorf("got %d of %d traced, want 2 to %d", got, asked, most)
	}
}

func TestFollowerIsLinkedToTheFetch(t *testing.T) {
	goOn := make(chan struct{})
	e := newTraced(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = io.WriteString(w, "begun ")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, "and ended")
	})
	// Each has its head before the body goes on, so the second one reads along.
	var bodies []io.Reader
	for range 2 {
		conn := e.send("GET /a HTTP/1.1\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, resp.Body)
	}
	close(goOn)
	for _, b := range bodies {
		if text, err := io.ReadAll(b); err != nil || string(text) != "begun and ended" {
			t.Errorf("got %q, %v", text, err)
		}
	}
	list := e.all()
	fetch := one(t, list, "CLIENT", "GET")
	followers := 0
	for _, s := range named(list, "SERVER", "GET") {
		if s.ID == fetch.Parent {
			want(t, s, "edgeproxy.collapsed", "")
			continue
		}
		followers++
		want(t, s, "edgeproxy.collapsed", "true", "edgeproxy.result", "miss")
		if !slices.Equal(s.Links, []string{fetch.Trace + "-" + fetch.ID}) || s.Trace == fetch.Trace {
			t.Errorf("the follower: got %+v, want a link to the fetch %s", s, fetch.ID)
		}
	}
	if followers != 1 {
		t.Errorf("got %d followers: %+v", followers, list)
	}
}

// Each slice is a request to the origin, and so has a span of its own.
func TestSlicesHaveASpanEach(t *testing.T) {
	const sliceBytes, sliced = 16 << 10, 5
	body := strings.Repeat("x", sliceBytes*sliced)
	e := newTraced(t, "cache: {slice: 16KiB}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Etag", `"a"`)
		http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(body))
	})
	e.ask("GET /film HTTP/1.1\r\n")
	wantTold(t, e, sliced)
}

// What an origin hears of is a span that is sent, and no other is.
func wantTold(t *testing.T, e *traced, n int) {
	t.Helper()
	var fetches []string
	for _, s := range e.all() {
		if s.Kind == "CLIENT" {
			fetches = append(fetches, "00-"+s.Trace+"-"+s.ID+"-01 ")
		}
	}
	told := slices.Clone(e.told)
	slices.Sort(fetches)
	slices.Sort(told)
	if len(told) != n || !slices.Equal(told, fetches) {
		t.Errorf("the origin heard of %q, spans were sent of %q, want %d", told, fetches, n)
	}
}

// A 304 that is about another response has the origin asked once more, under another span.
func TestSecondQuestionHasASpanOfItsOwn(t *testing.T) {
	e := newTraced(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") != "" {
			w.Header().Set("Etag", `"other"`)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Etag", `"a"`)
		_, _ = io.WriteString(w, "whole")
	})
	e.ask("GET / HTTP/1.1\r\n")
	e.ask("GET / HTTP/1.1\r\n")
	wantTold(t, e, 3)
}

// A refresh goes on when the request that has caused it is over, and is a part of it all the same.
func TestRefreshInTheBackgroundHasASpan(t *testing.T) {
	e := newTraced(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=600")
		w.Header().Set("Age", "1")
		_, _ = io.WriteString(w, "whole")
	})
	e.ask("GET / HTTP/1.1\r\n")
	e.ask("GET / HTTP/1.1\r\n")
	testkit.Eventually(t, "the refresh is over", func() bool {
		return e.Metric(t, "edgeproxy_origin_requests_total", "origin=app", "outcome=ok") == 2
	})
	wantTold(t, e, 2)
}

func TestFailuresAreToldOfSpans(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	e := newTraced(t, fmt.Sprintf("origins: {app: {servers: [%q]}}", closed.URL), nil)
	if got := e.ask("PROPFIND /\xff HTTP/1.1\r\nUser-Agent: \xffhostile\r\n"); got != http.StatusBadGateway {
		t.Fatalf("got %d", got)
	}
	list := e.all()
	server, fetch := one(t, list, "SERVER", "HTTP"), one(t, list, "CLIENT", "HTTP")
	if !server.Failed || !fetch.Failed || len(named(list, "INTERNAL", "connect")) != 1 || len(named(list, "INTERNAL", "body")) != 0 {
		t.Errorf("got %+v", list)
	}
	want(t, server, "error.type", "502", "edgeproxy.reason", "origin-error", "edgeproxy.result", "error", "url.path", "/\uFFFD", "user_agent.original", "\uFFFDhostile",
		"http.request.method", "_OTHER", "http.request.method_original", "PROPFIND")
	want(t, fetch, "error.type", "connect", "http.response.status_code", "")
	wantFailedIn(t, list, "connect", "connect: connection refused")
}

// wantFailedIn holds the only fetch in list to have failed in its part name, with these words, and all other parts to be well.
func wantFailedIn(t *testing.T, list []testkit.Span, name, words string) {
	t.Helper()
	for _, s := range list {
		switch {
		case s.Kind == "INTERNAL" && s.Name != name:
			if s.Failed || s.Why != "" || s.Attributes["error.type"] != "" {
				t.Errorf("got %+v failed, want %q alone", s, name)
			}
		case s.Kind == "INTERNAL" || s.Kind == "CLIENT":
			if !s.Failed || !strings.Contains(s.Why, words) || s.Attributes["error.type"] == "" {
				t.Errorf("got %+v, want it failed with %q", s, words)
			}
		}
	}
	if name != "" {
		one(t, list, "INTERNAL", name)
	}
}

// The parts of a fetch that has failed had no status, so a trace did not show in which of them.
func TestThePartThatFailedHadNoStatus(t *testing.T) {
	held, goOn := make(chan struct{}), make(chan struct{})
	e := newTraced(t, `origins: {app: {servers: ["http://{origin}"], max_connections: 1, queue: {requests: 10, wait: 20ms}}}`, func(http.ResponseWriter, *http.Request) { close(held); <-goOn })
	var all sync.WaitGroup
	all.Go(func() { e.ask("POST / HTTP/1.1\r\nContent-Length: 0\r\n") })
	<-held
	if got := e.ask("PUT / HTTP/1.1\r\nContent-Length: 0\r\n"); got != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503 of a queue", got)
	}
	close(goOn)
	all.Wait()
	list := slices.DeleteFunc(e.all(), func(s testkit.Span) bool {
		return s.Name == "POST" || s.Name == "connect" || s.Name == "first_byte" || s.Name == "body"
	})
	wantFailedIn(t, list, "queue", "connection")
}

// The span of a request that was refused before its target came had the path /, and the version and the method that nobody had sent.
func TestSpansInventedWhatARefusedRequestAskedFor(t *testing.T) {
	f := func(head string, status int, name string, pairs ...string) {
		t.Helper()
		e := newTraced(t, "", nil)
		if got := e.ask(head); got != status {
			t.Errorf("%q: got %d, want %d", head, got, status)
		}
		s := one(t, e.all(), "SERVER", name)
		want(t, s, pairs...)
		for key, value := range s.Attributes {
			if value == "" {
				t.Errorf("%q: got an empty %s, want none", head, key)
			}
		}
	}
	f("\x16\x03\x01\r\n", http.StatusBadRequest, "HTTP", "url.path", "", "http.request.method", "_OTHER", "http.request.method_original", "", "network.protocol.version", "")
	f("GET /a?b=c HTTP/1.1\r\nBad Field: x\r\n", http.StatusBadRequest, "GET", "url.path", "/a", "url.query", "b=c", "http.request.method", "GET", "network.protocol.version", "1.1")
	f("GET /a HTTP/1.1\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n", http.StatusRequestHeaderFieldsTooLarge, "GET", "url.path", "/a", "network.protocol.version", "1.1")
	f("GET /a HTTP/3.9\r\n", http.StatusBadRequest, "GET", "url.path", "/a", "network.protocol.version", "3.9")
}

func TestAnswersOfAnOriginThatAreErrors(t *testing.T) {
	f := func(status int, failedHere bool) {
		t.Helper()
		e := newTraced(t, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		e.ask("GET / HTTP/1.1\r\n")
		list := e.all()
		if s := one(t, list, "SERVER", "GET"); s.Failed != failedHere {
			t.Errorf("%d: got %+v", status, s)
		}
		s := one(t, list, "CLIENT", "GET")
		if !s.Failed {
			t.Errorf("%d: got %+v", status, s)
		}
		want(t, s, "error.type", fmt.Sprint(status))
		for _, part := range list {
			if part.Kind == "INTERNAL" && part.Failed || part.Why != "" { // the conventions want no description for a status
				t.Errorf("%d: got %+v", status, part)
			}
		}
	}
	f(http.StatusNotFound, false)
	f(http.StatusInternalServerError, true)
}

// A request that waits for a connection says for how long.
func TestQueueIsAPartOfTheFetch(t *testing.T) {
	goOn := make(chan struct{})
	e := newTraced(t, `origins: {app: {servers: ["http://{origin}"], max_connections: 1, queue: {requests: 10, wait: 1h}}}`, func(w http.ResponseWriter, _ *http.Request) { <-goOn; w.WriteHeader(http.StatusOK) })
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() { e.ask(fmt.Sprintf("POST /%d HTTP/1.1\r\nContent-Length: 0\r\n", i)) })
	}
	testkit.Eventually(t, "one waits", func() bool { return e.Metric(t, "edgeproxy_origin_queue_requests", "origin=app") == 1 })
	close(goOn)
	all.Wait()
	list := e.all()
	s := one(t, list, "INTERNAL", "queue")
	if s.End.Sub(s.Start) <= 0 || len(named(list, "CLIENT", "POST")) != 2 {
		t.Errorf("got %+v", list)
	}
}

// A fetch that ends since its client has left has failed nobody.
func TestFetchThatNobodyWantsHasNotFailed(t *testing.T) {
	left := make(chan struct{})
	e := newTraced(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	conn := e.send("POST / HTTP/1.1\r\nContent-Length: 0\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	<-left
	list := e.all()
	if s := one(t, list, "CLIENT", "POST"); s.Failed || s.Attributes["error.type"] != "canceled" {
		t.Errorf("got %+v", list)
	}
	wantParts(t, list, "connect", "first_byte", "body")
	s := one(t, list, "SERVER", "POST")
	want(t, s, "error.type", "", "edgeproxy.reason", "client-gone")
	if s.Failed {
		t.Errorf("got %+v", s)
	}
}

// wantParts holds the only fetch in list to these parts. The last one is what it ended in.
func wantParts(t *testing.T, list []testkit.Span, names ...string) {
	t.Helper()
	var fetch testkit.Span
	for _, s := range list {
		if s.Kind == "CLIENT" {
			fetch = s
		}
	}
	var got []string
	for _, s := range list {
		if s.Kind == "INTERNAL" && s.Parent == fetch.ID {
			got = append(got, s.Name)
		}
	}
	if !slices.Equal(got, names) {
		t.Fatalf("got the parts %q, want %q: %+v", got, names, list)
	}
	if last := one(t, list, "INTERNAL", names[len(names)-1]); !last.End.Equal(fetch.End) {
		t.Errorf("%s ends %v before the fetch", last.Name, fetch.End.Sub(last.End))
	}
}

// tracedMethods are those of a fetch that others may share, and of one that is for one client alone.
var tracedMethods = []string{http.MethodGet, http.MethodPost}

func TestTimeoutOfTheFirstByteIsInItsSpan(t *testing.T) {
	const limit = 50 * time.Millisecond
	for _, method := range tracedMethods {
		e := newTraced(t, fmt.Sprintf(`origins: {app: {servers: ["http://{origin}"], first_byte_timeout: %v}}`, limit),
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		if got := e.ask(method + " / HTTP/1.1\r\nContent-Length: 0\r\n"); got != http.StatusGatewayTimeout {
			t.Fatalf("%s: got %d", method, got)
		}
		list := e.all()
		wantParts(t, list, "connect", "first_byte")
		if s := one(t, list, "INTERNAL", "first_byte"); s.End.Sub(s.Start) < limit {
			t.Errorf("%s: got %v, want the %v of the wait", method, s.End.Sub(s.Start), limit)
		}
		want(t, one(t, list, "CLIENT", method), "error.type", "timeout")
		wantFailedIn(t, list, "first_byte", "")
		want(t, one(t, list, "SERVER", method), "error.type", "504")
	}
}

// A client gets a status that is no error, and then less than it was told: its span has failed as the fetch has.
func TestAnswerThatBreaksOffHasFailed(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadGateway} {
		for _, method := range tracedMethods {
			goOn := make(chan struct{})
			e := newTraced(t, "", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "max-age=600")
				w.Header().Set("Content-Length", "1000000")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "begun")
				_ = http.NewResponseController(w).Flush()
				<-goOn
				panic(http.ErrAbortHandler)
			})
			conn := e.send(method + " / HTTP/1.1\r\nContent-Length: 0\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			close(goOn)
			if _, err := io.ReadAll(resp.Body); err == nil || resp.StatusCode != status {
				t.Errorf("%s: got %d and all of the body", method, resp.StatusCode)
			}
			list := e.all()
			wantParts(t, list, "connect", "first_byte", "body")
			server, fetch := one(t, list, "SERVER", method), one(t, list, "CLIENT", method)
			if !server.Failed || !fetch.Failed {
				t.Errorf("got %+v and %+v, want both failed", server, fetch)
			}
			want(t, fetch, "error.type", "cut")
			wantFailedIn(t, list, "body", "unexpected EOF")
			want(t, server, "error.type", "cut", "http.response.status_code", fmt.Sprint(status))
		}
	}
}

// A client that leaves before the origin has answered leaves the wait as the only part, where the connection was there.
func TestFetchWhoseClientLeavesHasTheWait(t *testing.T) {
	asked := make(chan struct{})
	e := newTraced(t, behindProxies+traces(0, 100),
		func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/waits" {
				close(asked)
				<-r.Context().Done()
			}
		})
	e.ask("POST /connects HTTP/1.1\r\nContent-Length: 0\r\n")
	conn := e.send("POST /waits HTTP/1.1\r\nContent-Length: 0\r\nTraceparent: " + clientSampled + "\r\n")
	<-asked
	_ = conn.Close()
	list := e.all()
	wantParts(t, list, "first_byte")
	fetch, server := one(t, list, "CLIENT", "POST"), one(t, list, "SERVER", "POST")
	if fetch.Failed || server.Failed {
		t.Errorf("got %+v and %+v, want none failed", fetch, server)
	}
	want(t, fetch, "error.type", "canceled")
	want(t, server, "error.type", "", "http.response.status_code", "499", "edgeproxy.reason", "client-gone")
}

// A rule of the route, and Connection, say of traceparent what they say of any field.
func TestRulesHoldForTraceparent(t *testing.T) {
	f := func(yaml, more, wants string) {
		t.Helper()
		e := newTraced(t, yaml, nil)
		e.ask("GET / HTTP/1.1\r\nTraceparent: " + clientSampled + "\r\n" + more)
		if one(t, e.all(), "CLIENT", "GET"); e.told[0] != wants {
			t.Errorf("got %q, want %q", e.told[0], wants)
		}
	}
	f("headers: {request: {remove: [Traceparent]}}", "", " ")
	f("headers: {request: {set: {Traceparent: "+notSampled+"}}}", "", notSampled+" ")
	f("", "Connection: traceparent\r\n", " ")
}

// An origin that varies by traceparent would get a value that no request can select by: ours.
func TestResponseThatVariesByTraceparentIsNotStored(t *testing.T) {
	e := newTraced(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Vary", "Traceparent")
		_, _ = io.WriteString(w, "whole")
	})
	e.ask("GET / HTTP/1.1\r\nTraceparent: " + clientSampled + "\r\n")
	want(t, one(t, e.all(), "SERVER", "GET"), "edgeproxy.result", "pass", "edgeproxy.reason", "vary-star")
}

func TestSightingsAreToldOfSpans(t *testing.T) {
	e := newTraced(t, held+"admission: {policy: counting, counting: {more_than: 3}}", nil)
	e.ask("GET / HTTP/1.1\r\n")
	want(t, one(t, e.all(), "SERVER", "GET"), "edgeproxy.sightings", "1", "edgeproxy.result", "held_back", "edgeproxy.reason", "too-few-sightings")
}

// The span of a fetch by HTTP/2 had the version 1.1.
func TestSpanOfAFetchByHTTP2HadTheVersionOfHTTP1(t *testing.T) {
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	backend.Config.Protocols = new(http.Protocols)
	backend.Config.Protocols.SetUnencryptedHTTP2(true)
	backend.Start()
	t.Cleanup(backend.Close)
	e := newTraced(t, fmt.Sprintf("origins: {app: {servers: [%q], protocol: h2}}", backend.URL), nil)
	e.ask("GET / HTTP/1.1\r\n")
	want(t, one(t, e.all(), "CLIENT", "GET"), "network.protocol.version", "2", "http.response.status_code", "200")
}

// Tracing that is switched on or off by a reload holds for the requests that come from then on.
func TestTracingIsLive(t *testing.T) {
	e := newTraced(t, "tracing: {endpoint: \"\"}", nil)
	e.ask("GET /off HTTP/1.1\r\n")
	reload(t, e.Edge, e.complete(traces(1, 100)))
	e.ask("GET /on HTTP/1.1\r\n")
	testkit.Eventually(t, "no request is under way", func() bool { return e.Proxy.InFlight() == 0 })
	reload(t, e.Edge, e.complete(traces(0, 100)))
	e.ask("GET /again HTTP/1.1\r\n")
	want(t, one(t, e.all(), "SERVER", "GET"), "url.path", "/on")
}
