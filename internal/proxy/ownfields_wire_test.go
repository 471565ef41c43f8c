package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/edgetest"
)

// setsOwn has fields set in our own answers: one whose value is empty, how long they may be kept, and others.
const setsOwn = `headers: {generated: {set: {
  X-Own: top, strict-transport-security: max-age=9, Cache-Control: max-age=60, X-Host: "{host}", X-Query: "{query}",
}}}
`

// ownRoutes are routes that refuse, or answer themselves, by their path; the last is for edge.test alone. rated has nothing used of its rate
// as long as its name is new.
func ownRoutes(t *testing.T, rated string) (yaml string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "sorry.html")
	if err := os.WriteFile(page, []byte("<p>Sorry"), 0o600); err != nil {
		t.Fatal(err)
	}
	staff := strings.Replace(annsRoute(t, "/staff"), "}}\n", "}, headers: {generated: {set: {X-Own: staff}}}}\n", 1)
	return staff + fmt.Sprintf(`
- {name: denied, origin: app, match: {path_prefix: /denied}, access: {deny: [0.0.0.0/0]}, headers: {generated: {set: {X-Own: denied}}}}
- {name: %s, origin: app, match: {path_prefix: /rated}, limits: {rate: {requests: 1, per: 1h, burst: 1}}, headers: {generated: {set: {X-Own: rated}}}}
- name: denied-page
  origin: app
  match: {path_prefix: /denied-page}
  access: {deny: [0.0.0.0/0]}
  error_pages: {4xx: %[2]s, 5xx: %[2]s}
  headers: {generated: {set: {X-Own: denied-page}}}
- {name: moved, match: {path_prefix: /moved}, redirect: {to: /there, status: 301}, headers: {generated: {set: {X-Own: moved}}}}
- name: gone
  match: {path_prefix: /gone}
  respond: {status: 410, body: gone, headers: {X-Own: of-the-answer, X-Who: "{client}"}}
  headers: {generated: {set: {X-Own: gone}}}
- {name: slow, origin: app, match: {path_prefix: /slow}, first_byte_timeout: 1ms, headers: {generated: {set: {X-Own: slow}}}}
- name: missing-page
  origin: app
  match: {path_prefix: /missing-page}
  error_pages: {4xx: %[2]s, 5xx: %[2]s}
  intercept_errors: true
  headers:
    generated: {set: {X-Own: missing-page}}
    response: {set: {X-Own: of-responses, X-Response: "1", Cache-Control: max-age=60}}
- name: missing
  origin: app
  match: {path_prefix: /missing}
  headers: {response: {set: {X-Own: of-responses, X-Response: "1", Cache-Control: max-age=60}}}
- {name: rest, origin: app, match: {hosts: [edge.test]}, headers: {generated: {set: {X-Own: rest}}}}
`, rated, page)
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

func ownCases(instance string) []ownCase {
	const host = "X-Host: edge.test"
	ofTheOrigin := []string{"X-Own: of-the-origin", "Cache-Control: max-age=3600"}
	return []ownCase{
		{"GET " + proxy.ChallengePath + "known", 200, inText("top", host)},
		{"GET " + proxy.ChallengePath + "panics", 500, inText("top", host)},
		{"GET /" + strings.Repeat("a", 9000), 414, inText("top")},
		{"GET /a\nHost: other.test", 404, inText("top", "X-Host: other.test")},
		{"TRACE /a", 405, inText("top", "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")},
		{"GET /a" + strings.Repeat("\nX-A: a", 101), 431, inText("top")},
		{"GET /a\nCDN-Loop: edgeproxy; id=" + instance, 508, inText("top", host)},
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
	with := func(rated string) (yaml string) {
		return always + "purge: {allow: [127.0.0.0/8]}\n" + setsOwn + "routes:\n" + ownRoutes(t, rated)
	}
	e, _ := startBefore(t, with("rated"), ownOrigin)
	e.Proxy.Challenge = func(token []byte) string {
		if string(token) == "panics" {
			panic("a test")
		}
		return map[string]string{"known": "known.key"}[string(token)]
	}
	two := startHTTP2(t, e)
	for i, method := range []string{"GET", "HEAD", "GET", "HEAD"} {
		reload(t, e, with(fmt.Sprint("rated", i)))
		for _, c := range ownCases(e.Proxy.Instance) {
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
	e, _ := startBefore(t, `
listen: [{address: "127.0.0.1:0", livez: true}]
limits: {body_bytes: 1MiB}
headers: {generated: {set: {X-Own: top, X-Who: "{client} {uri}"}}}
`, ownOrigin)
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
	const moved = "routes: [{name: default, redirect: {to: /there}}]\n"
	e, _ := startBefore(t, moved, ownOrigin)
	for _, c := range []struct{ set, kept string }{
		{`{X-A: "a {uri}"}`, ""},
		{`{X-A: "{request_id}"}`, "private"},
		{`{X-A: "{client}", Cache-Control: max-age=9}`, "max-age=9"},
		{`{X-A: "{client}", Expires: "0"}`, ""},
	} {
		reload(t, e, moved+"headers: {generated: {set: "+c.set+"}}\n")
		if a := ask(t, e, asGet("/a")); a.status != 302 || a.header.Get("Cache-Control") != c.kept || a.header.Get("X-A") == "" {
			t.Errorf("%s: got %d %v, want Cache-Control %q", c.set, a.status, a.header, c.kept)
		}
	}
}
