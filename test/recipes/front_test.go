package recipes

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/testkit"
)

// heard is what the origin hears of a client.
type heard struct{ For, Proto, Host string }

// tells answers with what it heard.
func tells(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private")
	_ = json.NewEncoder(w).Encode(heard{r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Proto"), r.Host})
}

// hears returns what the origin of b hears when a client asks at address, from this address of its own.
func (b *behind) hears(address, client string) (h heard) {
	b.t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}, Timeout: testkit.Patience}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Host = "www.example.com"
	for name, lie := range map[string]string{"For": "192.0.2.1", "Host": "evil.example", "Proto": "https"} {
		req.Header.Set("X-Forwarded-"+name, lie)
	}
	res, err := (&http.Client{Transport: transport, Timeout: testkit.Patience}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&h); err != nil {
		b.t.Fatal(err)
	}
	return h
}

// edgeThere is where the edge listens in the recipes with a proxy in front.
const edgeThere = "127.0.0.1:8080"

func TestBehindHAProxy(t *testing.T) {
	program := testkit.Program(t, "haproxy", "/usr/sbin/haproxy")
	b := startRecipe(t, "behind-haproxy", tells, edgeThere, "127.0.0.1:0")
	address := testkit.QuietAddress(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := block(t, recipes, "haproxy", "bind :80", "bind "+address, edgeThere, b.address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-db", "-f", file)
	if got, want := b.hears(address, "127.0.0.9"), (heard{"127.0.0.9", "http", "www.example.com"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}

	// A client that goes past HAProxy says no header.
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err == nil {
		t.Errorf("without the header: got %q, want the end", line)
	}
}

func TestBehindHAProxyByFields(t *testing.T) {
	program := testkit.Program(t, "haproxy", "/usr/sbin/haproxy")
	b := startRecipe(t, "behind-nginx", tells, edgeThere, "127.0.0.1:0")
	address := testkit.QuietAddress(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := block(t, recipes, "haproxy-http", "bind :80", "bind "+address, edgeThere, b.address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-db", "-f", file)
	if got, want := b.hears(address, "127.0.0.9"), (heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The recipe let a client's X-Forwarded-Host through, so every client chose the host that routes and keys go by.
func TestBehindNginx(t *testing.T) {
	b := startRecipe(t, "behind-nginx", tells, edgeThere, "127.0.0.1:0")
	dir, address := t.TempDir(), testkit.QuietAddress(t)
	config := block(t, recipes, "nginx-before", "listen 80;", "listen "+address+";", edgeThere, b.address)
	testkit.StartNginx(t, testkit.Nginx(t), dir, nginxConfig(dir, config), address)
	// The client's lies are gone; behind the client stands nginx, as every proxy appends whom it hears.
	if got, want := b.hears(address, "127.0.0.9"), (heard{"127.0.0.9, 127.0.0.1", "http", "www.example.com"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
