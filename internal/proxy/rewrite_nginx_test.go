package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestRewritingIsThatOfNginx: proxy_pass with a path, and its default of proxy_redirect, before the same origin.
func TestRewritingIsThatOfNginx(t *testing.T) {
	program, address, dir := testkit.Nginx(t), testkit.FreeAddress(t), t.TempDir()
	asked := make(chan string, 1)
	app := edgetest.StartOrigin(t, nil, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			asked <- r.RequestURI
			c.Say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + r.Header.Get("X-Leads-To") + "\r\n\r\n")
		}
	})
	testkit.ServeByNginx(t, program, dir, fmt.Sprintf(`
	access_log off;
	server {
		listen %[2]s;
		location /api/ { proxy_pass http://%[3]s/v2/; }
	}
`, dir, address, app.Address), address)
	e := start(t, `origins: {app: {servers: ["http://{origin}"], host_header: server}}
routes: [{name: default, origin: app, match: {path_prefix: /api/}, rewrite: {strip_prefix: /api/, add_prefix: /v2/}}]
`, edgetest.Options{Origin: app.Address})
	// through returns what the origin was asked for by way of a proxy, and where its Location leads the client.
	through := func(proxy, target, leads string) (atOrigin, host, to string) {
		t.Helper()
		c, err := net.Dial("tcp", proxy)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: edge.test\r\nX-Leads-To: %s\r\nConnection: close\r\n\r\n", target, leads); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		base, err := url.Parse("http://edge.test" + target)
		if err != nil {
			t.Fatal(err)
		}
		u, err := base.Parse(res.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ = strings.Cut(u.Host, ":") // nginx names the port that it listens at
		return <-asked, host, u.RequestURI()
	}
	for _, target := range []string{"/api/x", "/api/", "/api/?q", "/api/x/y/?a=/api/b&c=%2F", "/api/a%20b", "/api/~u/x.y;z=1"} {
		for _, leads := range []string{"http://" + app.Address + "/v2/login?to=/v2/x", "http://" + app.Address + "/v2/", "http://" + app.Address + "/v2x", "http://" + app.Address + "/", "https://else.test/v2/x", "sub/y"} {
			a1, host1, to1 := through(address, target, leads)
			a2, host2, to2 := through(e.Address, target, leads)
			if a1 != a2 || host1 != host2 || to1 != to2 {
				t.Errorf("%s, which leads to %s: by nginx %s, and the client goes to %s %s; here %s, and to %s %s", target, leads, a1, host1, to1, a2, host2, to2)
			}
		}
	}
}
