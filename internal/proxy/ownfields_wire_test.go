package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/template"
	edgetest "edgeproxy/internal/test/oldrig"
)

func generatedRules(t *testing.T, set map[string]string) fieldrules.Rules {
	t.Helper()
	rules, err := fieldrules.ForGenerated(set)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// rulesOf are rules for fields of our own answers: whose they are, how long they may be kept, one whose value is empty, and others.
func rulesOf(t *testing.T, whose string) fieldrules.Rules {
	t.Helper()
	return generatedRules(t, map[string]string{
		"X-Own": whose, "strict-transport-security": "max-age=9", "Cache-Control": "max-age=60", "X-Host": "{host}", "X-Query": "{query}",
	})
}

// ownRoutes are routes that refuse, or answer themselves, by their path; the last is for edge.test alone.
func ownRoutes(t *testing.T) (out []edgetest.OtherRoute) {
	t.Helper()
	add := func(name string, change ...func(*proxy.Route)) {
		own := rulesOf(t, name)
		out = append(out, edgetest.OtherRoute{Name: name, Change: append(change, func(r *proxy.Route) { r.PathPrefixes, r.Generated = []string{"/" + name}, own })})
	}
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	page := &proxy.ErrorPage{Type: "text/html; charset=utf-8", Body: []byte("<p>Sorry")}
	pages := func(intercept bool) *proxy.ErrorPages {
		return &proxy.ErrorPages{ByClass: map[int]*proxy.ErrorPage{4: page, 5: page}, Intercept: intercept}
	}
	response, err := fieldrules.ForResponses(nil, map[string]string{"X-Own": "of-responses", "X-Response": "1", "Cache-Control": "max-age=60"})
	answers, wrong := fieldrules.ForAnswers(map[string]string{"X-Own": "of-the-answer", "X-Who": "{client}"})
	to, bad := template.ParseLocation("/there")
	if err != nil || wrong != nil || bad != nil {
		t.Fatal(err, wrong, bad)
	}
	add("denied", func(r *proxy.Route) { r.Access.Deny = everywhere })
	add("staff", forAnn(t).Change...)
	add("rated", func(r *proxy.Route) { r.Rate = rate.Per(1, time.Hour, 1) })
	add("denied-page", func(r *proxy.Route) { r.Access.Deny, r.ErrorPages = everywhere, pages(false) })
	add("moved", func(r *proxy.Route) { r.Answer, r.Origin = &proxy.OwnAnswer{Status: 301, Location: to}, nil })
	add("gone", func(r *proxy.Route) {
		r.Answer, r.Origin = &proxy.OwnAnswer{Status: 410, Body: []byte("gone"), Fields: answers}, nil
	})
	add("slow", func(r *proxy.Route) { r.FirstByte = time.Millisecond })
	add("missing-page", func(r *proxy.Route) { r.ErrorPages, r.Response = pages(true), response })
	add("missing", func(r *proxy.Route) { r.Response = response })
	return out
}

// ownOrigin answers with what is asked for: with nothing, with nothing ever, or with 404.
func ownOrigin(c *edgetest.Conn) {
	for r := c.Next(); r != nil; r = c.Next() {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, "/slow"):
			c.Next() // until it is closed
			return
		case strings.HasPrefix(path, "/fails"):
			return
		case strings.HasPrefix(path, "/missing"):
			c.Say("HTTP/1.1 404 X\r\nCache-Control: max-age=3600\r\nRetry-After: 7\r\nX-Own: of-the-origin\r\nContent-Length: 5\r\n\r\nhello")
		default:
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nX-Own: of-the-origin\r\nContent-Length: 5\r\n\r\nhello")
		}
	}
}

// ownCase is a request, and the fields of its answer among fieldsOfCases. The request has method and path, and then fields.
type ownCase struct {
	request string
	status  int
	fields  []string
}

var fieldsOfCases = []string{
	"X-Own", "Strict-Transport-Security", "X-Host", "X-Query", "Cache-Control", "Content-Type", "X-Who", "X-Response", "Retry-After", "Www-Authenticate", "Location", "Allow",
}

// inText are the fields of a text of ours by rules of this name.
func inText(own string, more ...string) []string {
	return append(more, "X-Own: "+own, "Strict-Transport-Security: max-age=9", "Cache-Control: no-store", "Content-Type: text/plain; charset=utf-8")
}

func inPage(own string, more ...string) []string {
	return append(more, "X-Own: "+own, "Strict-Transport-Security: max-age=9", "Cache-Control: no-store", "Content-Type: text/html; charset=utf-8", "X-Host: edge.test")
}

// inAnswer are the fields of what a route answers itself.
func inAnswer(own string, more ...string) []string {
	return append(more, "X-Own: "+own, "Strict-Transport-Security: max-age=9", "Cache-Control: max-age=60", "X-Host: edge.test")
}

func ownCases() []ownCase {
	const host = "X-Host: edge.test"
	ofTheOrigin := []string{"X-Own: of-the-origin", "Cache-Control: max-age=3600"}
	return []ownCase{
		{"GET " + proxy.ChallengePath + "known", 200, inText("top", host)},
		{"GET " + proxy.ChallengePath + "panics", 500, inText("top", host)},
		{"GET /" + strings.Repeat("a", 9000), 414, inText("top")},
		{"GET /a\nHost: other.test", 404, inText("top", "X-Host: other.test")},
		{"TRACE /a", 405, inText("top", "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")},
		{"GET /a" + strings.Repeat("\nX-A: a", 101), 431, inText("top")},
		{"GET /a\nCDN-Loop: edgeproxy; id=instance", 508, inText("top", host)},
		{"PURGE /a", 200, inText("rest", host)},
		{"GET /a\nCache-Control: only-if-cached", 504, inText("rest", host)},
		{"GET /fails", 502, inText("rest", host)},
		{"GET /slow", 504, inText("slow", host)},
		{"GET /denied", 403, inText("denied", host)},
		{"GET /denied-page", 403, inPage("denied-page")},
		{"GET /staff", 401, inText("staff", host, `Www-Authenticate: Basic realm="staff", charset="UTF-8"`)},
		{"GET /rated/a", 200, ofTheOrigin},
		{"GET /rated/a", 429, inText("rated", host, "Retry-After: 3600")},
		{"GET /moved", 301, inAnswer("moved", "Location: /there")},
		{"GET /gone", 410, inAnswer("of-the-answer", "X-Who: 127.0.0.1", "Content-Type: text/plain; charset=utf-8")},
		{"GET /missing-page", 404, inPage("missing-page", "X-Response: 1", "Retry-After: 7")},
		{"GET /missing-page", 404, inPage("missing-page", "X-Response: 1", "Retry-After: 7")}, // stored
		{"GET /missing", 404, []string{"X-Own: of-responses", "X-Response: 1", "Retry-After: 7", "Cache-Control: max-age=60"}},
		{"GET /stored", 200, ofTheOrigin},
		{"GET /stored", 200, ofTheOrigin},
		{"GET /stored\nIf-Modified-Since: Fri, 27 Nov 2099 00:00:00 GMT", 304, ofTheOrigin},
		{"GET /stored\nRange: bytes=0-1", 206, ofTheOrigin},
		{"GET /stored\nRange: bytes=9-", 416, ofTheOrigin[:1]},
	}
}

// TestAllOurOwnAnswersHaveTheFieldsOfTheOperator: by HTTP/1.1 and HTTP/2, GET and HEAD, with those of their route or, where none is known,
// with those of all. What is stored, and made of it, is the origin's.
func TestAllOurOwnAnswersHaveTheFieldsOfTheOperator(t *testing.T) {
	o := edgetest.Options{Rule: oldAlways(), Routes: ownRoutes(t), PurgeFrom: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	o.Challenge = func(token []byte) string {
		if string(token) == "panics" {
			panic("a test")
		}
		return map[string]string{"known": "known.key"}[string(token)]
	}
	e, _ := startOldBefore(t, o, ownOrigin)
	two := e.StartHTTP2(t)
	for i, method := range []string{"GET", "HEAD", "GET", "HEAD"} {
		mustSwap(t, e, func(l *proxy.Live) {
			l.Generated = rulesOf(t, "top")
			last := &l.Routes[len(l.Routes)-1]
			last.Hosts, last.Generated = []routing.Host{{Name: "edge.test"}}, rulesOf(t, "rest")
			rated := slices.IndexFunc(l.Routes, func(r proxy.Route) bool { return r.Name == "rated" })
			l.Routes[rated].Name += fmt.Sprint(i) // which has nothing used of its rate
		})
		for _, c := range ownCases() {
			switch {
			case method == "HEAD" && strings.Contains(c.request, "Range"): // it has no meaning there
			case i < 2:
				c.ask(t, e.Address, false, method)
			default:
				c.ask(t, two, true, method)
			}
		}
	}
}

// ask sends the request of c, where that is a GET by method, and compares the fields of its answer.
func (c ownCase) ask(t *testing.T, address string, two bool, method string) {
	t.Helper()
	lines := strings.Split(c.request, "\n")
	by, path, _ := strings.Cut(lines[0], " ")
	if by == http.MethodGet {
		by = method
	}
	r, err := http.NewRequest(by, "http://"+address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "edge.test"
	for _, line := range lines[1:] {
		if name, value, _ := strings.Cut(line, ": "); name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!two)
	protocols.SetUnencryptedHTTP2(two)
	tr := &http.Transport{Protocols: protocols, DisableCompression: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(r)
	if err != nil {
		t.Errorf("%s as %s: %v", lines[0], by, err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	var got []string
	for _, name := range fieldsOfCases {
		for _, value := range res.Header[name] {
			got = append(got, name+": "+value)
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(c.fields))
	if res.StatusCode != c.status || !slices.Equal(got, want) {
		t.Errorf("%.60s as %s by %s: got %d %q\nwant %d %q", lines[0], by, res.Proto, res.StatusCode, got, c.status, want)
	}
}

// TestOwnFieldsOfWhatNoRouteHas: of requests that cannot be read, and of what load balancers ask.
func TestOwnFieldsOfWhatNoRouteHas(t *testing.T) {
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways(), Livez: true}, ownOrigin)
	mustSwap(t, e, func(l *proxy.Live) {
		l.Generated = generatedRules(t, map[string]string{"X-Own": "top", "X-Who": "{client} {uri}"})
	})
	for request, status := range map[string]int{
		"GET /livez HTTP/1.0\r\n\r\n":                                                                   200,
		"GET /\x01 HTTP/1.1\r\nHost: edge.test\r\n\r\n":                                                 400,
		"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n":                                                           400,
		"GET / HTTP/1.1\r\n\r\n":                                                                        400,
		"GET / HTTP/1.1\r\nHost: edge.test\r\nX A: b\r\n\r\n":                                           400,
		"POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab":        400,
		"POST / HTTP/1.1\r\nHost: edge.test\r\nTransfer-Encoding: gzip\r\n\r\n":                         400,
		"GET / HTTP/1.1\r\nHost: edge.test\r\nX-A: " + strings.Repeat("a", 16<<10) + "\r\n\r\n":         431, // longer ones may be cut off by a reset while they are sent
		"POST / HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n": 413,
		"GET / HTTP/1.1\r\nHost: edge.test\r\nExpect: a-miracle\r\n\r\n":                                417,
	} {
		a := ask(t, e, request)
		if got := a.header["X-Own"]; a.status != status || !slices.Equal(got, []string{"top"}) || !strings.HasPrefix(a.header.Get("X-Who"), "127.0.0.1") {
			t.Errorf("%.60q: got %d, X-Own %q, X-Who %q, %v; want %d", request, a.status, got, a.header.Get("X-Who"), a.err, status)
		}
	}
}

// TestAnswersAboutOneClientArePrivate: caches in front of us may keep a redirect that says nothing of it.
func TestAnswersAboutOneClientArePrivate(t *testing.T) {
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, ownOrigin)
	to, err := template.ParseLocation("/there")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  map[string]string
		kept string
	}{
		{map[string]string{"X-A": "a {uri}"}, ""},
		{map[string]string{"X-A": "{request_id}"}, "private"},
		{map[string]string{"X-A": "{client}", "Cache-Control": "max-age=9"}, "max-age=9"},
		{map[string]string{"X-A": "{client}", "Expires": "0"}, ""},
	} {
		mustSwap(t, e, func(l *proxy.Live) {
			l.Routes[0].Answer, l.Routes[0].Origin, l.Routes[0].Generated = &proxy.OwnAnswer{Status: 302, Location: to}, nil, generatedRules(t, c.set)
		})
		if a := ask(t, e, asGet("/a")); a.status != 302 || a.header.Get("Cache-Control") != c.kept || a.header.Get("X-A") == "" {
			t.Errorf("%v: got %d %v, want Cache-Control %q", c.set, a.status, a.header, c.kept)
		}
	}
}
