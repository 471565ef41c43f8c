package recipes

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// startHTTPD runs Apache httpd with this configuration, in a folder where all users may write, until the end of the test.
func startHTTPD(t *testing.T, address, dir, config string) {
	t.Helper()
	const modules = "/usr/lib/apache2/modules"
	program := testkit.Program(t, "apache2", "/usr/sbin/apache2")
	text := fmt.Sprintf("ServerRoot %[1]s\nDefaultRuntimeDir %[1]s\nPidFile %[1]s/httpd.pid\nErrorLog %[1]s/error.log\n"+
		"Mutex file:%[1]s default\nServerName httpd\nListen %[2]s\n", dir, address)
	if os.Geteuid() == 0 {
		text += "User www-data\nGroup www-data\n"
	}
	for name := range strings.FieldsSeq("mpm_event authz_core proxy proxy_http proxy_balancer proxy_hcheck lbmethod_byrequests slotmem_shm cache cache_disk headers rewrite") {
		text += fmt.Sprintf("LoadModule %s_module %s/mod_%s.so\n", name, modules, name)
	}
	file := filepath.Join(dir, "httpd.conf")
	if err := os.WriteFile(file, []byte(text+config), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-DFOREGROUND", "-f", file)
}

// TestFromHTTPD: with the policy always both origins get the same requests.
func TestFromHTTPD(t *testing.T) {
	t.Parallel()
	all := append(story(),
		requests{target: "/dated", times: 3},
		requests{target: "/missing", times: 2},
		requests{target: "/page", times: 2, cookie: "session=1"},
		requests{target: "/cookie", times: 3},
	)
	theirs, our, theirSpare, ourSpare := newSite(t), newSite(t), newSite(t), newSite(t)
	address, dir := testkit.QuietAddress(t), openFolder(t)
	cache := filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	startHTTPD(t, address, dir, block(t, moving, "httpd", originThere, theirs.address(), "127.0.0.1:3001", theirSpare.address(), "*:8080", address,
		"/var/cache/apache2/mod_cache_disk", cache))
	edge := serve(t, block(t, moving, "from-httpd", originThere, our.address(), "127.0.0.1:3001", ourSpare.address(), listenOurs, `"127.0.0.1:0"`,
		folderOurs, filepath.Join(t.TempDir(), "cache"), sizeOurs, "64MiB"))

	asked := our.play(t, edge.Addresses[0], all)
	same(t, "httpd", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 1 + 2, "GET /once": 1, "GET /page?a=2": 1, "GET /api/list": 3, "GET /private": 3, "GET /static/logo.svg": 1, "GET /static/style.css": 1,
		"GET /dated": 1, "GET /missing": 2, "GET /cookie": 1,
	})
	keeps(t, edge, all, asked, 8+2) // /page is fetched anew by each reload
	stores(t, "httpd", 8, func() (heads int) {
		err := filepath.WalkDir(cache, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".header") {
				heads++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return heads
	})

	both := func(target string, fields ...string) (they, we exchange) {
		t.Helper()
		they, we = theirs.exchange(t, address, target, fields...), our.exchange(t, edge.Addresses[0], target, fields...)
		for name, e := range map[string]exchange{"httpd": they, "edgeproxy": we} {
			if got := e.header.Get("X-Frame-Options"); got != "DENY" {
				t.Errorf("%s: %s says X-Frame-Options %q, want DENY", target, name, got)
			}
		}
		return they, we
	}
	for _, cookie := range []string{"seen=1", ""} { // hits have none
		they, we := both("/cookie/new")
		if they.header.Get("Set-Cookie") != cookie || we.header.Get("Set-Cookie") != cookie {
			t.Errorf("a response that sets a cookie: httpd says %v and edgeproxy %v, want %q", they.header, we.header, cookie)
		}
	}
	if they, we := both("/old?a=1"); they.status != http.StatusMovedPermanently || we.status != they.status ||
		they.header.Get("Location") != "https://www.example.com/new" || we.header.Get("Location") != they.header.Get("Location") {
		t.Errorf("a redirect: httpd says %d, %v, edgeproxy %d, %v", they.status, they.header, we.status, we.header)
	}
	if they, we := both("/v1/list?a=b"); they.target != "/internal/list?a=b" || we.target != they.target {
		t.Errorf("/v1/list: httpd asked for %q, edgeproxy for %q", they.target, we.target)
	}
	if they, we := both("/v1"); they.target != "/v1" || we.target != "/internal" {
		t.Errorf("/v1: httpd asked for %q, edgeproxy for %q", they.target, we.target)
	}
	if they, we := both("/v1/moved"); they.header.Get("Location") != "/internal/list" || we.header.Get("Location") != "/v1/list" {
		t.Errorf("Location: httpd says %v, edgeproxy %v", they.header, we.header)
	}
	if they, we := both("/a%2fb"); they.status != http.StatusNotFound || they.asked || we.status != http.StatusOK {
		t.Errorf("a coded slash: httpd says %d, edgeproxy %d, want 404 and 200", they.status, we.status)
	}
	if they, we := both("/client", "X-Forwarded-For", "192.0.2.1"); they.heard.Get("X-Forwarded-For") != "192.0.2.1, 127.0.0.1" ||
		we.heard.Get("X-Forwarded-For") != "127.0.0.1" || they.heard.Get("X-Forwarded-Proto") != "" || we.heard.Get("X-Forwarded-Proto") != "http" ||
		they.heard.Get("X-Forwarded-Server") == "" || we.heard.Get("X-Forwarded-Server") != "" {
		t.Errorf("who the client is: the origin behind httpd got %v, behind edgeproxy %v", they.heard, we.heard)
	}
	both("/dated/cookie", "Cookie", "other=1")
	if they, we := both("/dated/cookie", "Cookie", "other=1"); they.asked || !we.asked {
		t.Errorf("a heuristic lifetime and a cookie: httpd asked again: %t, edgeproxy: %t, want false and true", they.asked, we.asked)
	}

	// The spare is asked when the other server is gone, and was not before.
	if n := len(theirSpare.play(t, address, nil)) + len(ourSpare.play(t, edge.Addresses[0], nil)); n != 0 {
		t.Errorf("the spare servers were asked for %d URLs", n)
	}
	theirs.Close()
	our.Close()
	they, we := theirSpare.exchange(t, address, "/spare"), ourSpare.exchange(t, edge.Addresses[0], "/spare")
	if they.status != http.StatusOK || !they.asked || we.status != http.StatusOK || !we.asked {
		t.Errorf("with the first server gone httpd says %d, edgeproxy %d, want 200", they.status, we.status)
	}
}
