package recipes

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// usersFile has ann with the password secret, hashed by bcrypt.
const usersFile = "ann:$2b$05$4lIym0mPwjxCjIT5fS5FbuJASGcpYbzz02oN/KS4kbZw1QY.bz/HG\n"

// question is one request to a gateway, said so often.
type question struct {
	url, user, password string
	times               int
}

// said is what a client sees of an answer.
type said struct {
	Status                int
	Location, Frame, Body string
	Program               string // X-Powered-By
	Compressed            bool
}

// gateway is a proxy by its two addresses, and what is behind it.
type gateway struct {
	plain, secure string
	first, second *site
}

// says returns the answers to q. The proxy is reached whatever host the URL names.
func (g *gateway) says(t *testing.T, q question) (all []said) {
	t.Helper()
	var d net.Dialer
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // both have the same certificate
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, port, _ := net.SplitHostPort(address); port == "443" {
				return d.DialContext(ctx, network, g.secure)
			}
			return d.DialContext(ctx, network, g.plain)
		},
	}
	defer transport.CloseIdleConnections()
	for range q.times {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, q.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Debug", "1")
		if q.user != "" {
			req.SetBasicAuth(q.user, q.password)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("%s: %v", q.url, err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatalf("%s: %v", q.url, err)
		}
		a := said{Status: res.StatusCode, Location: res.Header.Get("Location"), Program: res.Header.Get("X-Powered-By"), Compressed: res.Uncompressed}
		if a.Status == http.StatusOK {
			a.Frame = res.Header.Get("X-Frame-Options") // nginx adds it to no error
		}
		if a.Status == http.StatusOK || a.Status == http.StatusNotFound {
			a.Body = string(body) // other texts are each program's own
		}
		all = append(all, a)
	}
	return all
}

// asked is what both servers behind g were asked.
func (g *gateway) asked() map[string]int {
	all := map[string]int{}
	for _, s := range []*site{g.first, g.second} {
		s.mu.Lock()
		for target, n := range s.asked {
			all[target] += n
		}
		s.mu.Unlock()
	}
	return all
}

// TestFromNginxAsAGateway: both say the same, and ask their servers for the same.
func TestFromNginxAsAGateway(t *testing.T) {
	testkit.Slow(t, "it starts nginx")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	program := testkit.Nginx(t)
	dir := t.TempDir()
	chain, key := filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem")
	testkit.WritePair(t, testkit.NewAuthority(t).Good("api.example.com"), chain, key)
	for name, text := range map[string]string{"users": usersFile, "missing.html": "<h1>not here</h1>\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"/etc/ssl/chain.pem", chain, "/etc/ssl/key.pem", key, "/etc/proxy/users", filepath.Join(dir, "users"), "/srv/pages", dir}
	with := func(g *gateway, more ...string) []string {
		g.first, g.second = newSite(t), newSite(t)
		return append(append(more, files...), originThere, g.first.address(), "127.0.0.1:3001", g.second.address())
	}

	theirs := &gateway{plain: testkit.QuietAddress(t), secure: testkit.QuietAddress(t)}
	testkit.StartNginx(t, program, dir, nginxConfig(dir, block(t, moving, "nginx-gateway",
		with(theirs, "listen 80 ", "listen "+theirs.plain+" ", "listen 443 ", "listen "+theirs.secure+" ")...)), theirs.secure)
	our := &gateway{}
	both := serve(t, block(t, moving, "from-nginx-gateway", with(our, `":80"`, `"127.0.0.1:0"`, `":443"`, `"127.0.0.1:0"`)...)).Addresses
	our.plain, our.secure = both[0], both[1]

	const secure = "https://api.example.com"
	for _, q := range []struct {
		question
		status []int
	}{
		{question{url: "http://api.example.com/a?b=1", times: 1}, []int{301}},
		{question{url: secure + "/healthz", times: 1}, []int{200}},
		{question{url: secure + "/old", times: 1}, []int{301}},
		{question{url: secure + "/v1/list?a=b", times: 2}, []int{200, 200}},
		{question{url: secure + "/login", times: 5}, []int{200, 200, 200, 429, 429}},
		{question{url: secure + "/staff/", times: 1}, []int{401}},
		{question{url: secure + "/staff/", user: "ann", password: "wrong", times: 1}, []int{401}},
		{question{url: secure + "/staff/", user: "ann", password: "secret", times: 1}, []int{200}},
		{question{url: secure + "/intern/", times: 1}, []int{403}},
		{question{url: secure + "/page", times: 2}, []int{200, 200}},
		{question{url: secure + "/missing", times: 1}, []int{404}},
	} {
		want, got := theirs.says(t, q.question), our.says(t, q.question)
		for i := range want {
			if got[i] != want[i] || got[i].Status != q.status[i] {
				t.Errorf("%s, number %d: edgeproxy says %+v, nginx %+v, want status %d", q.url, i+1, got[i], want[i], q.status[i])
			}
		}
	}
	if want, got := theirs.asked(), our.asked(); !maps.Equal(got, want) {
		t.Errorf("edgeproxy asked for %v, nginx for %v", got, want)
	}
}
