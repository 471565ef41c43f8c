package admin

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestParseHostTakesOnlyWhatBrowsersSend(t *testing.T) {
	f := func(in, name, port string) {
		t.Helper()
		h, ok := parseHost(in)
		if ok != (name != "") || ok && h != (host{name, port}) {
			t.Errorf("parseHost(%q): got %+v, %v, want %q, %q", in, h, ok, name, port)
		}
	}
	f("localhost", "localhost", "")
	f("LocalHost.:9980", "localhost", "9980")
	f("localhost:", "localhost", "")
	f("127.0.0.1:80", "127.0.0.1", "80")
	f("[::1]", "::1", "")
	f("[0:0:0:0:0:0:0:1]:9", "::1", "9")
	f("[::ffff:127.0.0.1]:9", "127.0.0.1", "9")
	f("[fe80::1%eth0]", "fe80::1", "")
	f("", "", "")
	f(".", "", "")
	f(":9980", "", "")
	f("::1", "", "")
	f("[::1", "", "")
	f("[::1]x", "", "")
	f("[::1]9980", "", "")
	f("[127.0.0.1]", "", "")
	f("[localhost]", "", "")
	f("localhost:99a", "", "")
	f("localhost:80:80", "", "")
	f("evil.example:127.0.0.1", "", "")
}

func TestHostMustBeLoopbackOrOurOwn(t *testing.T) {
	f := func(address string, hosts []string, value string, want bool) {
		t.Helper()
		o := options()
		o.Address, o.Hosts = address, hosts
		g := serve(t, mustNew(t, o))
		a := g.do("GET", "/livez", "", "Host", value)
		wantStatus := http.StatusForbidden
		if want {
			wantStatus = http.StatusOK
		} else {
			g.errorText(a)
		}
		if a.status != wantStatus {
			t.Errorf("address %q, hosts %q, Host %q: got %d, want %d", address, hosts, value, a.status, wantStatus)
		}
	}
	for _, address := range []string{"127.0.0.1:9980", "", ":9980", "unix:/run/admin.sock", "192.0.2.5:9980"} {
		for _, value := range []string{"localhost", "LOCALHOST:1", "127.0.0.1", "127.9.8.7:1", "[::1]", "[::1]:9980"} {
			f(address, nil, value, true)
		}
		for _, value := range []string{
			"evil.example", "evil.example:9980", "localhost.evil.example", "127.0.0.1.evil.example",
			"evillocalhost", "192.0.2.6:9980", "0.0.0.0:9980", "[::]:9980", "128.0.0.1", "127.1", "2130706433",
		} {
			f(address, nil, value, false)
		}
	}
	f("192.0.2.5:9980", nil, "192.0.2.5:9980", true)
	f("192.0.2.5:9980", nil, "192.0.2.5", true)
	f("[2001:DB8::5]:9980", nil, "[2001:db8:0::5]:1", true)
	f("Edge.Example:9980", nil, "edge.example.", true)
	f("0.0.0.0:9980", nil, "0.0.0.0:9980", false)
	f("[::]:9980", nil, "[::]:9980", false)
	hosts := []string{"edge.example", "ported.example:81", "2001:db8::7"}
	f("", hosts, "EDGE.example:5", true)
	f("", hosts, "ported.example:81", true)
	f("", hosts, "ported.example:82", false)
	f("", hosts, "ported.example", false)
	f("", hosts, "[2001:db8::7]:1", true)
	f("", hosts, "x.edge.example", false)
}

// raw sends text as it is and returns the status of the answer.
func raw(t *testing.T, addr, text string) int {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer c.Close()
	if _, err := fmt.Fprint(c, text); err != nil {
		t.Fatalf("write: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestNoRequestFormGetsAroundTheHostCheck(t *testing.T) {
	g := serve(t, mustNew(t, options()))
	f := func(text string, want int) {
		t.Helper()
		text = strings.ReplaceAll(text, "\n", "\r\n") + "\r\n\r\n"
		if got := raw(t, g.addr, text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	f("GET /livez HTTP/1.1\nHost: localhost", http.StatusOK)
	f("GET /livez HTTP/1.0", http.StatusForbidden)
	f("GET /livez HTTP/1.1\nHost:", http.StatusForbidden)
	f("GET /livez HTTP/1.1", http.StatusBadRequest)
	f("GET /livez HTTP/1.1\nHost: localhost\nHost: evil.example", http.StatusBadRequest)
	f("GET http://evil.example/livez HTTP/1.1\nHost: localhost", http.StatusForbidden)
	f("GET http://localhost/livez HTTP/1.1\nHost: localhost", http.StatusOK)
	f("OPTIONS * HTTP/1.1\nHost: evil.example", http.StatusForbidden)
	f("OPTIONS * HTTP/1.1\nHost: localhost", http.StatusNotFound)
	f("CONNECT localhost:80 HTTP/1.1\nHost: localhost", http.StatusNotFound)
	f("GET /livez HTTP/1.1\nHost: localhost@evil.example", http.StatusBadRequest)
	f("GET /livez HTTP/1.1\nHost: localhost\nX: "+strings.Repeat("x", 3*maxHeader), http.StatusRequestHeaderFieldsTooLarge)
}

func TestForeignPagesAreRefused(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger = p
	g := serve(t, mustNew(t, o))
	f := func(want int, header ...string) {
		t.Helper()
		if got := g.do("GET", "/status", "", header...).status; got != want {
			t.Errorf("GET with %q: got %d, want %d", header, got, want)
		}
		before := p.all()
		if got := g.do("POST", "/purge", purgeOne, header...).status; got != want {
			t.Errorf("POST with %q: got %d, want %d", header, got, want)
		}
		if purged := p.all() != before; purged != (want == http.StatusOK) {
			t.Errorf("POST with %q: purged is %v", header, purged)
		}
	}
	const ok, refused = http.StatusOK, http.StatusForbidden
	f(ok)
	f(ok, "Origin", "http://"+g.addr)
	f(ok, "Origin", "http://"+g.addr, "Sec-Fetch-Site", "same-origin")
	f(ok, "Host", "localhost:9980", "Origin", "http://LOCALHOST:9980")
	f(ok, "Host", "localhost", "Origin", "https://localhost")
	f(ok, "Sec-Fetch-Site", "none")
	f(ok, "Sec-Fetch-Site", "Same-Origin")
	f(refused, "Sec-Fetch-Site", "same-site")
	f(refused, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "same-site")
	f(refused, "Origin", "http://"+g.addr, "Sec-Fetch-Site", "same-site")
	f(refused, "Sec-Fetch-Site", "something-new")
	f(refused, "Origin", "http://evil.example")
	f(refused, "Origin", "null")
	f(refused, "Origin", "")
	f(refused, "Origin", g.addr)
	f(refused, "Origin", "file://"+g.addr)
	f(refused, "Origin", "http://"+g.addr+".evil.example")
	f(refused, "Origin", "http://"+g.addr+"@evil.example")
	f(refused, "Host", "localhost:9980", "Origin", "http://localhost:3000")
	f(refused, "Host", "localhost:9980", "Origin", "http://127.0.0.1:9980")
	f(refused, "Origin", "http://"+g.addr, "Origin", "http://evil.example")
	f(refused, "Sec-Fetch-Site", "cross-site")
	f(refused, "Sec-Fetch-Site", " Cross-Site ")
	f(refused, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site")
	f(refused, "Origin", "http://"+g.addr, "Sec-Fetch-Site", "cross-site")
}

// A link to the dashboard from a wiki was refused, although the page holds no data.
func TestALinkToTheDashboardWasRefused(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger = p
	g := serve(t, mustNew(t, o))
	f := func(want int, method, target string, header ...string) {
		t.Helper()
		for _, site := range []string{"cross-site", "same-site"} {
			if got := g.do(method, target, purgeOne, append([]string{"Sec-Fetch-Site", site}, header...)...).status; got != want {
				t.Errorf("%s %s with %s, %q: got %d, want %d", method, target, site, header, got, want)
			}
		}
	}
	const ok, refused = http.StatusOK, http.StatusForbidden
	const mode, dest, navigate, document = "Sec-Fetch-Mode", "Sec-Fetch-Dest", "navigate", "document"
	f(ok, "GET", "/", mode, navigate, dest, document)
	f(ok, "GET", "/", mode, navigate, dest, document, "Sec-Fetch-User", "?1")
	f(ok, "GET", "/?from=wiki", mode, navigate, dest, document)
	for _, target := range []string{"/status", "/events", "/lookup", "/paths", "/metrics", "/readyz", "/livez", "/purge", "//", "/none"} {
		f(refused, "GET", target, mode, navigate, dest, document)
	}
	for _, method := range []string{"HEAD", "POST", "OPTIONS"} {
		f(refused, method, "/", mode, navigate, dest, document)
	}
	f(refused, "GET", "/")
	f(refused, "GET", "/", mode, navigate)
	f(refused, "GET", "/", dest, document)
	for _, other := range []string{"iframe", "frame", "embed", "object", "image", "empty", ""} {
		f(refused, "GET", "/", mode, navigate, dest, other)
	}
	for _, other := range []string{"no-cors", "cors", "same-origin", ""} {
		f(refused, "GET", "/", mode, other, dest, document)
	}
	f(refused, "GET", "/", mode, navigate, mode, "cors", dest, document)
	f(refused, "GET", "/", mode, navigate, dest, document, dest, "iframe")
	f(refused, "GET", "/", mode, navigate, dest, document, "Origin", "http://evil.example")
	f(refused, "GET", "/", mode, navigate, dest, document, "Host", "evil.example")
	f(refused, "POST", "/purge", mode, navigate, dest, document)
	if got := p.all(); got != "" {
		t.Errorf("purged %s", got)
	}
}

func TestRefusalIsBeforePathAndMethod(t *testing.T) {
	g := serve(t, mustNew(t, options()))
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/status", "/purge", "/none"} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			a := g.do(method, path, "", "Host", "evil.example")
			if a.status != http.StatusForbidden || a.header.Get("Allow") != "" {
				t.Errorf("%s %s: got %d, Allow %q, want 403 alone", method, path, a.status, a.header.Get("Allow"))
			}
			if strings.Contains(g.errorText(a), "evil") {
				t.Errorf("%s %s: the error repeats the request", method, path)
			}
		}
	}
}

// The refusal did not name the setting that helps.
func TestRefusedHostIsToldWhatIsWanted(t *testing.T) {
	o := options()
	o.Address = "unix:/run/admin.sock"
	a := serve(t, mustNew(t, o)).do("GET", "/readyz", "", "Host", "x")
	if want := "must be a loopback one, such as localhost, the admin address, or one of admin.hosts"; !strings.Contains(a.body, want) {
		t.Errorf("got %q, want %q in it", a.body, want)
	}
}
