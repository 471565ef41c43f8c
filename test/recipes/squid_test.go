package recipes

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// startSquid runs Squid with this configuration before address. The spool is its folder for what it stores.
func startSquid(t *testing.T, address, spool, config string) {
	t.Helper()
	program := testkit.Program(t, "squid", "/usr/sbin/squid")
	dir := filepath.Dir(spool)
	file := filepath.Join(dir, "squid.conf")
	config += "visible_hostname squid\npinger_enable off\nshutdown_lifetime 0 seconds\naccess_log none\nnetdb_filename none\ncoredump_dir " + dir +
		"\npid_filename " + dir + "/squid.pid\ncache_log " + dir + "/cache.log\n"
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "-N", "-z", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("squid -z: %v: %s", err, out)
	}
	start(t, address, program, "-N", "-f", file)
}

// TestFromSquid: with the policy always both origins get the same requests.
func TestFromSquid(t *testing.T) {
	t.Parallel()
	all := append(story(),
		requests{target: "/static/old.css", times: 3},
		requests{target: "/static/old.js", times: 3, cookie: "other=1"},
		requests{target: "/dated", times: 3},
		requests{target: "/missing", times: 2},
		requests{target: "/page", times: 2, cookie: "session=1"},
		requests{target: "/cookie", times: 3},
		requests{method: "PURGE", target: "/page", times: 1},
		requests{target: "/page", times: 3},
	)
	theirs, our := newSite(t), newSite(t)
	address, spool := testkit.QuietAddress(t), filepath.Join(openFolder(t), "spool")
	startSquid(t, address, spool, block(t, moving, "squid",
		"127.0.0.1 parent 3000", "127.0.0.1 parent "+portOf(t, theirs.address()), "http_port 8080", "http_port "+address, "/var/spool/squid 10000", spool+" 64"))
	edge := serve(t, block(t, moving, "from-squid",
		originThere, our.address(), listenOurs, `"127.0.0.1:0"`, folderOurs, filepath.Join(t.TempDir(), "cache"), sizeOurs, "64MiB"))

	asked := our.play(t, edge.Addresses[0], all)
	same(t, "Squid", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 1 + 2 + 1, "GET /once": 1, "GET /page?a=2": 1, "GET /api/list": 3, "GET /private": 3, "GET /static/logo.svg": 4, "GET /static/style.css": 4,
		"GET /static/old.css": 1, "GET /static/old.js": 1, "GET /dated": 1, "GET /missing": 2, "GET /cookie": 1,
	})

	both := func(target string, fields ...string) (they, we exchange) {
		t.Helper()
		return theirs.exchange(t, address, target, fields...), our.exchange(t, edge.Addresses[0], target, fields...)
	}
	for _, cookie := range []string{"seen=1", ""} { // hits have none
		they, we := both("/cookie/new")
		if got := they.header.Get("Set-Cookie"); got != cookie {
			t.Errorf("a response that sets a cookie: Squid says %q, want %q", got, cookie)
		}
		if got := we.header.Get("Set-Cookie"); got != cookie {
			t.Errorf("a response that sets a cookie: edgeproxy says %q, want %q", got, cookie)
		}
	}
	if they, we := both("/page", "Host", "other.example.com"); they.status != http.StatusForbidden || we.status != http.StatusNotFound {
		t.Errorf("another host: Squid says %d and edgeproxy %d, want 403 and 404", they.status, we.status)
	}
	if they, we := both("/users", "Authorization", "Basic YTpi"); !they.asked || they.heard.Get("Authorization") != "" || we.heard.Get("Authorization") != "Basic YTpi" {
		t.Errorf("Authorization: the origin behind Squid got %v, behind edgeproxy %v, want none and the client's", they.heard, we.heard)
	}
	if they, we := both("/client", "X-Forwarded-For", "192.0.2.1"); they.heard.Get("X-Forwarded-For") != "192.0.2.1, 127.0.0.1" ||
		we.heard.Get("X-Forwarded-For") != "127.0.0.1" {
		t.Errorf("X-Forwarded-For: the origin behind Squid got %v, behind edgeproxy %v", they.heard, we.heard)
	}
	both("/dated/cookie", "Cookie", "other=1")
	if they, we := both("/dated/cookie", "Cookie", "other=1"); they.asked || !we.asked {
		t.Errorf("a heuristic lifetime and a cookie: Squid asked again: %t, edgeproxy: %t, want false and true", they.asked, we.asked)
	}
}
