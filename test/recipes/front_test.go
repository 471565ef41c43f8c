package recipes

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// heard is what the origin hears of a client.
type heard struct{ For, Proto, Host string }

// hearsOf answers with what it heard. Pages below /page may be stored.
func hearsOf(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "echo" {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		c, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.Copy(c, both)
		_ = c.Close()
		return
	}
	w.Header().Set("Cache-Control", "private")
	if strings.HasPrefix(r.URL.Path, "/page") {
		w.Header().Set("Cache-Control", "max-age=600")
	}
	w.Header().Set("Original", r.Header.Get("X-Original-Url"))
	_ = json.NewEncoder(w).Encode(heard{r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Proto"), r.Host})
}

// from returns a transport of the client with this address, whatever proxy it asks.
func (b *behind) from(client string) *http.Transport {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}, Timeout: testkit.Patience}
	transport := &http.Transport{
		DialContext:     dialer.DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the test's own
	}
	b.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// tells sends what a client with this address lies of itself to url, and returns the status and what the origin heard.
func (b *behind) tells(url, client string) (status int, h heard, header http.Header) {
	b.t.Helper()
	transport := b.from(client)
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Host = "www.example.com"
	for name, lie := range map[string]string{"Forwarded-For": "192.0.2.1", "Forwarded-Host": "evil.example", "Forwarded-Proto": "gopher", "Original-Url": "/evil"} {
		req.Header.Set("X-"+name, lie)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		if err := json.NewDecoder(res.Body).Decode(&h); err != nil {
			b.t.Fatal(err)
		}
	}
	return res.StatusCode, h, res.Header
}

// hears fails the test unless the origin hears this of the client with this address.
func (b *behind) hears(url, client string, want heard) http.Header {
	b.t.Helper()
	_, got, header := b.tells(url, client)
	if got != want {
		b.t.Errorf("%s from %s: the origin hears %+v, want %+v", url, client, got, want)
	}
	return header
}

// logged fails the test unless the last line of the access log has this client.
func (b *behind) logged(file, client string, lines int) {
	b.t.Helper()
	var all [][]byte
	testkit.Eventually(b.t, "the access log has the requests", func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			b.t.Fatal(err)
		}
		all = bytes.SplitAfter(text, []byte("\n"))
		return len(all) == lines+1 // what comes after the last line: nothing yet
	})
	var last struct{ Client string }
	if err := json.Unmarshal(all[lines-1], &last); err != nil || last.Client != client {
		b.t.Errorf("the access log has %q, error %v, want client %s", all[lines-1], err, client)
	}
}

// rated fails the test unless limits.rate, which lets one request through, goes by the address of the client.
func (b *behind) rated(url string) {
	b.t.Helper()
	for _, r := range []struct {
		client string
		want   int
	}{{"127.0.0.9", 200}, {"127.0.0.9", 429}, {"127.0.0.10", 200}} {
		if status, _, _ := b.tells(url, r.client); status != r.want {
			b.t.Errorf("limits.rate: %s gets %d, want %d", r.client, status, r.want)
		}
	}
}

// edgeThere is where the edge listens in the recipes with a proxy in front.
const edgeThere = "127.0.0.1:8080"

// Texts that are appended to a recipe: they go by the last line of it.
const (
	lastLine = "  - name: site\n    origin: app\n"
	oneEach  = "limits: {rate: {requests: 1, per: 1h, burst: 1}}\n"
)

// haproxy runs HAProxy with this block of the recipe before the edge, and returns its address.
func haproxy(t *testing.T, name, edge string) string {
	t.Helper()
	program := testkit.Program(t, "haproxy", "/usr/sbin/haproxy")
	address := testkit.QuietAddress(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := block(t, recipes, name, "bind :80", "bind "+address, edgeThere, edge)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-db", "-f", file)
	return address
}

func TestBehindHAProxy(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	b := startRecipe(t, "behind-haproxy", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+"access_log: {path: "+log+"}\n")
	address := haproxy(t, "haproxy", b.address)
	header := b.hears("http://"+address+"/", "127.0.0.9", heard{"127.0.0.9", "http", "www.example.com"})
	if got := header.Get("Original"); got != "" {
		t.Errorf("the origin hears X-Original-URL: %q of a client", got)
	}
	b.logged(log, "127.0.0.9", 1)

	// A client that goes past HAProxy says no header.
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); len(got) > 0 {
		t.Errorf("without the header: got %q, want the end", got)
	}

	// Every peer that sends the header is believed.
	lying, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.7")}}).Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer lying.Close()
	if _, err := io.WriteString(lying, "PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\nGET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(lying), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	b.logged(log, "192.0.2.7", 2)
}

func TestLimitsBehindHAProxyGoByTheClient(t *testing.T) {
	t.Parallel()
	b := startRecipe(t, "behind-haproxy", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+oneEach)
	b.rated("http://" + haproxy(t, "haproxy", b.address) + "/")

	b = startRecipe(t, "behind-haproxy", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+"limits: {connections_per_address: 1}\n")
	address := haproxy(t, "haproxy", b.address)
	upgraded := func(client string) (status int) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "echo")
		res, err := b.from(client).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode
	}
	// What is upgraded is in use until its end, so that the edge cannot make room by closing it.
	for _, r := range []struct {
		client string
		want   int
	}{{"127.0.0.9", 101}, {"127.0.0.9", 429}, {"127.0.0.10", 101}} {
		if got := upgraded(r.client); got != r.want {
			t.Errorf("connections_per_address: %s gets %d, want %d", r.client, got, r.want)
		}
	}
}

func TestBehindHAProxyByFields(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	b := startRecipe(t, "behind-nginx", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+"access_log: {path: "+log+"}\n")
	b.hears("http://"+haproxy(t, "haproxy-http", b.address)+"/", "127.0.0.9", heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"})
	b.logged(log, "127.0.0.9", 1)
}

// nginxInFront runs nginx before the edge, and returns its addresses for http and https.
func nginxInFront(t *testing.T, edge string, oldNew ...string) (plain, secure string) {
	t.Helper()
	dir := t.TempDir()
	plain, secure = testkit.QuietAddress(t), testkit.QuietAddress(t)
	chain, key := filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem")
	testkit.WritePair(t, testkit.NewAuthority(t).Good("www.example.com"), chain, key)
	config := block(t, recipes, "nginx-before", append([]string{
		"listen 80;", "listen " + plain + ";", "listen 443 ssl;", "listen " + secure + " ssl;",
		"/etc/ssl/chain.pem", chain, "/etc/ssl/key.pem", key, edgeThere, edge,
	}, oldNew...)...)
	testkit.StartNginx(t, testkit.Nginx(t), dir, nginxConfig(dir, config), plain)
	return "http://" + plain, "https://" + secure
}

// The recipe let a client's X-Forwarded-Host through, so every client chose the host that routes and keys go by.
func TestBehindNginx(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	b := startRecipe(t, "behind-nginx", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+"access_log: {path: "+log+"}\n")
	plain, secure := nginxInFront(t, b.address)
	// The client's lies are gone; behind the client stands nginx, as every proxy appends whom it hears.
	header := b.hears(plain+"/", "127.0.0.9", heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"})
	b.logged(log, "127.0.0.9", 1)
	if got := header.Get("Original"); got != "/evil" {
		t.Errorf("the origin hears X-Original-URL: %q, which nginx passes on from the client, want /evil", got)
	}
	b.hears(secure+"/", "127.0.0.9", heard{"127.0.0.9, 127.0.0.1", "https", "www.example.com"})

	// A page that is asked for by http and by https is stored twice.
	for _, scheme := range []string{plain, secure} {
		want := heard{"127.0.0.9, 127.0.0.1", scheme[:strings.Index(scheme, ":")], "www.example.com"}
		for n, asked := range []int64{1, 1, 0} {
			before := b.origin.requests.Load()
			b.hears(scheme+"/page", "127.0.0.9", want)
			if got := b.origin.requests.Load() - before; got != asked {
				t.Errorf("%s, request %d: the origin was asked %d times, want %d", scheme, n+1, got, asked)
			}
		}
	}

	// Past nginx comes a peer that is not trusted.
	direct := "http://" + b.address
	header = b.hears(direct+"/", "127.0.0.9", heard{"127.0.0.9", "http", "www.example.com"})
	if got := header.Get("Original"); got != "" {
		t.Errorf("the origin hears X-Original-URL: %q of a peer that is not trusted", got)
	}
	before := b.origin.requests.Load()
	b.hears(direct+"/page", "127.0.0.8", heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"})
	if b.origin.requests.Load() != before {
		t.Error("a peer that is not trusted misses what is stored for its Host")
	}
	// One that is trusted has its X-Forwarded-Host in the key.
	if a := b.ask(http.MethodGet, "/page", "X-Forwarded-Host", "other.example"); a.asked != 1 || !strings.Contains(string(a.body), `"other.example"`) {
		t.Errorf("X-Forwarded-Host of nginx: the origin was asked %d times, the client got %s", a.asked, a.body)
	}
}

func TestLimitsBehindNginxGoByTheClient(t *testing.T) {
	t.Parallel()
	b := startRecipe(t, "behind-nginx", hearsOf, edgeThere, "127.0.0.1:0", lastLine, lastLine+oneEach)
	plain, _ := nginxInFront(t, b.address)
	b.rated(plain + "/")
}

// TestUpgradesThroughNginx: nginx has its two lines, edgeproxy none.
func TestUpgradesThroughNginx(t *testing.T) {
	t.Parallel()
	b := startRecipe(t, "behind-nginx", hearsOf, edgeThere, "127.0.0.1:0")
	plain, _ := nginxInFront(t, b.address, "server {\n", "map $http_upgrade $connection_upgrade {\n    default upgrade;\n    \"\" \"\";\n}\nserver {\n",
		`proxy_set_header Connection "";`, "proxy_set_header Upgrade $http_upgrade;\nproxy_set_header Connection $connection_upgrade;")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plain+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	res, err := b.from("127.0.0.9").RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	both, ok := res.Body.(io.ReadWriter)
	if !ok || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %d, want 101", res.StatusCode)
	}
	if _, err := fmt.Fprint(both, "ping"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(both, got); err != nil || string(got) != "ping" {
		t.Errorf("got %q and %v, want what was sent", got, err)
	}
	b.hears(plain+"/", "127.0.0.9", heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"})
}
