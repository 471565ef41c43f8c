package recipes

import (
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// startCaddy runs Caddy with this Caddyfile at these addresses of one host, until the end of the test.
func startCaddy(t *testing.T, dir, plain, secure, text string) {
	t.Helper()
	program := testkit.Program(t, "caddy")
	host, _, err := net.SplitHostPort(secure)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Caddyfile")
	text = "{\n\tadmin off\n\tdefault_bind " + host + "\n\thttp_port " + portOf(t, plain) + "\n\thttps_port " + portOf(t, secure) + "\n}\n" + text
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// It keeps what it has read in its user's folders.
	start(t, secure, "env", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, program, "run", "--adapter", "caddyfile", "--config", file)
}

// heardOf returns what a server of g was told with the last request, which was for path.
func (g *gateway) heardOf(t *testing.T, path string) http.Header {
	t.Helper()
	for _, s := range []*site{g.first, g.second} {
		s.mu.Lock()
		last := s.last
		s.mu.Unlock()
		if last != nil && last.URL.Path == path {
			return last.Header
		}
	}
	t.Fatalf("no server was asked for %s last", path)
	return nil
}

// TestFromCaddy: both say the same, and ask their servers for the same, but for what the document says.
func TestFromCaddy(t *testing.T) {
	testkit.Slow(t, "it starts Caddy")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	dir := t.TempDir()
	chain, key, users := filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "users")
	testkit.WritePair(t, testkit.NewAuthority(t).Good("api.example.com"), chain, key)
	if err := os.WriteFile(users, []byte(usersFile), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(g *gateway, more ...string) []string {
		g.first, g.second = newSite(t), newSite(t)
		return append(more, "/etc/ssl/chain.pem", chain, "/etc/ssl/key.pem", key, originThere, g.first.address(), "127.0.0.1:3001", g.second.address())
	}
	theirs, our := &gateway{plain: testkit.QuietAddress(t), secure: testkit.QuietAddress(t)}, &gateway{}
	startCaddy(t, dir, theirs.plain, theirs.secure, block(t, moving, "caddy", with(theirs)...))
	both := serve(t, block(t, moving, "from-caddy",
		with(our, `":80"`, `"127.0.0.1:0"`, `":443"`, `"127.0.0.1:0"`, "/etc/edgeproxy/users", users)...)).Addresses
	our.plain, our.secure = both[0], both[1]

	const secure = "https://api.example.com"
	for _, q := range []struct {
		question
		status int
	}{
		{question{url: "http://api.example.com/a?b=1", times: 1}, 308},
		{question{url: secure + "/old?a=1", times: 1}, 301},
		{question{url: secure + "/healthz", times: 1}, 200},
		{question{url: secure + "/v1/list?a=b", times: 2}, 200},
		{question{url: secure + "/staff/", times: 1}, 401},
		{question{url: secure + "/staff/", user: "ann", password: "wrong", times: 1}, 401},
		{question{url: secure + "/page", times: 2}, 200},
		{question{url: secure + "/missing", times: 1}, 404},
		{question{url: secure + "/big", times: 1}, 200},
	} {
		want, got := theirs.says(t, q.question), our.says(t, q.question)
		for i := range want {
			if got[i] != want[i] || got[i].Status != q.status || got[i].Program != "" || got[i].Compressed != (q.url == secure+"/big") {
				t.Errorf("%s, number %d: edgeproxy says %+v, Caddy %+v, want status %d", q.url, i+1, got[i], want[i], q.status)
			}
		}
	}
	if want, got := theirs.asked(), our.asked(); !maps.Equal(got, want) || got["GET /internal/list?a=b"] != 2 {
		t.Errorf("edgeproxy asked for %v, Caddy for %v", got, want)
	}

	// What differs.
	q := question{url: secure + "/staff/page", user: "ann", password: "secret", times: 1}
	want, got := theirs.says(t, q), our.says(t, q)
	they, we := theirs.heardOf(t, "/staff/page"), our.heardOf(t, "/staff/page")
	if got[0] != want[0] || got[0].Status != http.StatusOK || they.Get("Authorization") == "" || we.Get("Authorization") != "" {
		t.Errorf("a user: edgeproxy says %+v and sends %v, Caddy %+v and %v", got[0], we, want[0], they)
	}
	for _, name := range []string{"X-Real-Ip", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"} {
		if they.Get(name) != we.Get(name) || we.Get(name) == "" {
			t.Errorf("%s: the origin behind Caddy got %q, behind edgeproxy %q", name, they.Get(name), we.Get(name))
		}
	}
	if they.Get("X-Debug")+we.Get("X-Debug") != "" {
		t.Errorf("X-Debug: the origin behind Caddy got %v, behind edgeproxy %v", they, we)
	}
	for _, q := range []struct{ path, they, we string }{
		{"/staff", "content of /staff", ""},
		{"/v1", "content of /v1", "content of /internal"},
		{"/V1/list", "content of /internal/list", "content of /V1/list"},
	} {
		ask := question{url: secure + q.path, times: 1}
		if they, we := theirs.says(t, ask)[0], our.says(t, ask)[0]; they.Body != q.they || we.Body != q.we {
			t.Errorf("%s: Caddy says %+v and edgeproxy %+v, want %q and %q", q.path, they, we, q.they, q.we)
		}
	}

	// With a server gone the other one is asked for everything, by Caddy when it knows.
	theirs.first.Close()
	our.first.Close()
	for range 5 {
		if a := our.says(t, question{url: secure + "/page", times: 1})[0]; a.Status != http.StatusOK {
			t.Errorf("with a server gone edgeproxy says %+v", a)
		}
	}
	if !testkit.ComesTrue(func() bool {
		for _, a := range theirs.says(t, question{url: secure + "/page", times: 5}) {
			if a.Status != http.StatusOK {
				return false
			}
		}
		return true
	}) {
		t.Error("with a server gone Caddy does not come to answer")
	}
}
