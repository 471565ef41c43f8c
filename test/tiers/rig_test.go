package tiers

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// document is where the recipe stands.
const document = "../../docs/operating/origins.md"

// block returns what stands in document between <!-- NAME --> and <!-- /NAME -->, without the
// fence around it.
func block(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n(.*?)<!-- /` + name + ` -->`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no block %q", document, name)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(found[1]), "```yaml\n"), "```\n")
}

// node is a program that serves.
type node struct {
	url   string // its data listener's
	admin string // address of the other one
}

// startNode runs the program with this file until the end of the test.
func startNode(t *testing.T, text string) *node {
	t.Helper()
	file := filepath.Join(t.TempDir(), "edgeproxy.yaml")
	if err := os.WriteFile(file, []byte(text+"admin: {address: \"127.0.0.1:0\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	served := testkit.Serve(t, exec.Command(testkit.Built(t), "serve", "-c", file), func(l testkit.LogLine, line string) bool {
		if l.Message == "" || l.Level == "ERROR" {
			t.Errorf("log: %s", line)
		}
		return true
	})
	return &node{url: "http://" + served.Addresses[0], admin: served.Admin}
}

// host is what all clients ask for, whichever edge they come to.
const host = "www.example.com"

// ask sends a GET. The caller closes the body.
func (n *node) ask(t testing.TB, client *http.Client, target string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Host = host
	return client.Do(req)
}

// get is ask for one that must have an answer.
func (n *node) get(t testing.TB, client *http.Client, target string) *http.Response {
	t.Helper()
	res, err := n.ask(t, client, target)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// metrics scrapes.
func (n *node) metrics(t *testing.T) testkit.Series {
	t.Helper()
	res, err := http.Get("http://" + n.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	m, err := testkit.ReadSeries(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// purge runs edgeproxy purge against n.
func (n *node) purge(t *testing.T, arguments ...string) {
	t.Helper()
	arguments = append([]string{"purge", "--admin", n.admin}, arguments...)
	if out, err := exec.Command(testkit.Built(t), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("edgeproxy %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// settings are what a site has otherwise than the recipe: what stands in the place of a line,
// by the line.
type settings map[string]string

func (s settings) apply(t *testing.T, file string) string {
	t.Helper()
	for old, text := range s {
		if !strings.Contains(file, old+"\n") {
			t.Fatalf("the recipe has no line %q", old)
		}
		file = strings.Replace(file, old+"\n", text+"\n", 1)
	}
	return file
}

// Lines of the recipe that tests change.
const (
	trustsEdges = `    trusted_proxies: [10.0.0.21, 10.0.0.22] # the edges, and nobody else`
	toOrigin    = `  app: {servers: ["http://10.0.0.30:9000"]}`
	ofShield    = `admission: {policy: always}`
	shieldsTags = `cache: {send_tags: true}`
	ofEdges     = `admission: {policy: second-hit}`
	edgesStale  = `cache: {stale: {if_error: 1h}}`
)

// startShield runs the recipe's shield before the origin at this URL.
func startShield(t *testing.T, origin string, s settings) *node {
	t.Helper()
	file := s.apply(t, block(t, "tiers shield"))
	return startNode(t, strings.NewReplacer("10.0.0.10:8080", "127.0.0.1:0", "http://10.0.0.30:9000", origin,
		"[10.0.0.21, 10.0.0.22]", "[127.0.0.1]").Replace(file))
}

// startEdge runs one of the recipe's edges before what serves at this URL.
func startEdge(t *testing.T, name, behind string, s settings) *node {
	t.Helper()
	file := s.apply(t, block(t, "tiers edge"))
	return startNode(t, strings.NewReplacer("10.0.0.21:8080", "127.0.0.1:0", "http://10.0.0.10:8080", behind, "edge-1", name).Replace(file))
}

// origin answers with what the test says, and notes what it was asked.
type origin struct {
	url string

	mu     sync.Mutex
	asked  int
	last   *http.Request
	answer http.HandlerFunc
}

func startOrigin(t *testing.T, answer http.HandlerFunc) *origin {
	t.Helper()
	testkit.Slow(t, "it is an origin of the built program")
	testkit.Plain(t, "the programs do the work")
	o := &origin{answer: answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked++
		o.last = r
		f := o.answer
		o.mu.Unlock()
		f(w, r)
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

func (o *origin) says(answer http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = answer
}

// seen returns how often it was asked, and the last request.
func (o *origin) seen() (times int, last *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked, o.last
}

// clientFrom is a client whose address is 127.0.0.N; 0 leaves it to the system.
func clientFrom(t testing.TB, n byte) *http.Client {
	t.Helper()
	dialer := net.Dialer{Timeout: testkit.Patience}
	if n != 0 {
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, n)}
	}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableCompression: true, MaxIdleConnsPerHost: 4}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: testkit.Patience}
}

// ttl is what tests do not compare: a second may pass anywhere.
var ttl = regexp.MustCompile(`ttl=-?\d+`)

// caches is Cache-Status with the seconds left out, and whatever lines it came in as one.
func caches(h http.Header) string {
	return ttl.ReplaceAllString(strings.Join(h.Values("Cache-Status"), ", "), "ttl")
}

func TestMain(m *testing.M) {
	code := m.Run()
	code = cmp.Or(code, removed())
	os.Exit(code)
}

func removed() int {
	if err := testkit.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
