package recipes

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// askOf is a request for /page, by its fields.
type askOf [][2]string

// varyLists is a URL of which not all responses have the same Vary.
type varyLists struct {
	says   string // in the document
	vary   func(h http.Header) string
	asks   []askOf // each has a response of its own
	others []askOf // have responses by other names, and are made between the rounds of asks
}

func varyListsOfURLs() []varyLists {
	with := func(names, also, more string) func(http.Header) string {
		return func(h http.Header) string {
			if h.Get(also) != "" {
				return more
			}
			return names
		}
	}
	prefix := varyLists{
		says: "10 languages (`Accept-Language`), and 1 request with Origin (`Accept-Language, Origin`)", vary: with("Accept-Language", "Origin", "Accept-Language, Origin"),
		others: []askOf{{{"Accept-Language", "xx"}, {"Origin", "http://x"}}},
	}
	none := varyLists{
		says: "10 languages (`Accept-Language`), and 1 request whose answer has no Vary", vary: with("Accept-Language", "X-None", ""),
		others: []askOf{{{"Accept-Language", "xx"}, {"X-None", "1"}}},
	}
	crossing := varyLists{
		says: "10 pages (`Accept, Accept-Language`) and 10 JSON texts (`Accept, Origin`), in turn", vary: with("Accept, Accept-Language", "Origin", "Accept, Origin"),
	}
	alternating := varyLists{
		says: "50 requests, in turn by 5 modes (`X-Mode, X-A` to `X-Mode, X-E`)", vary: func(h http.Header) string { return "X-Mode, X-" + h.Get("X-Mode") },
	}
	for i := range 10 {
		language := [2]string{"Accept-Language", fmt.Sprintf("l-%d", i)}
		prefix.asks, none.asks = append(prefix.asks, askOf{language}), append(none.asks, askOf{language})
		crossing.asks = append(crossing.asks,
			askOf{{"Accept", "html"}, language}, askOf{{"Accept", "json"}, {"Origin", fmt.Sprintf("o-%d", i)}})
	}
	for i := range 50 {
		mode := string(rune('A' + i%5))
		alternating.asks = append(alternating.asks, askOf{{"X-Mode", mode}, {"X-" + mode, fmt.Sprint(i)}})
	}
	return []varyLists{prefix, none, crossing, alternating}
}

// varyingSite starts an origin where /0 varies as the first of all says, /1 as the second, and counts what it is asked.
func varyingSite(t *testing.T, all []varyLists) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		number, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "max-age=600")
		if names := all[number].vary(r.Header); names != "" {
			w.Header().Set("Vary", names)
		}
		fmt.Fprintln(w, "a page")
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), asked
}

// lost has a proxy at address store all that v, which has this number, asks for, then the others, and returns how many of v's requests reach
// the origin then.
func (v *varyLists) lost(t *testing.T, address string, number int, asked *atomic.Int64) int {
	t.Helper()
	get := func(fields askOf) {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s/%d", address, number), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			req.Header.Set(f[0], f[1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%v: got %d", fields, res.StatusCode)
		}
	}
	for range 2 { // the default of edgeproxy stores at the second request
		for _, fields := range v.asks {
			get(fields)
		}
	}
	for range 2 {
		for _, fields := range v.others {
			get(fields)
		}
	}
	before := asked.Load()
	for _, fields := range v.asks {
		get(fields)
	}
	return int(asked.Load() - before)
}

// TestVaryListsBesidePeers prints the table of docs/conformance.md: how many of the responses of a URL are lost when others of the same URL have
// another Vary. The document must have it.
func TestVaryListsBesidePeers(t *testing.T) {
	t.Parallel()
	nginx, varnish := testkit.Nginx(t), testkit.Program(t, "varnishd", "/usr/sbin/varnishd")
	text, err := os.ReadFile(conformance)
	if err != nil {
		t.Fatal(err)
	}
	all := varyListsOfURLs()
	ours, askedOurs := varyingSite(t, all)
	edge := serve(t, fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\norigins: {site: {servers: [\"http://%s\"]}}\nroutes: [{name: site, origin: site}]\nlimits: {variants: 64}\n", ours))
	before, askedNginx := varyingSite(t, all)
	nginxAddress := startNginxBefore(t, nginx, before)
	before, askedVarnish := varyingSite(t, all)
	host, port, _ := net.SplitHostPort(before)
	varnishAddress, _ := startVarnish(t, varnish, fmt.Sprintf("vcl 4.1; backend default { .host = %q; .port = %q; }\n", host, port))

	var table strings.Builder
	table.WriteString("| responses of one URL, by their Vary | edgeproxy | nginx | Varnish |\n|---|---|---|---|\n")
	for number, v := range all {
		lost := v.lost(t, edge.Addresses[0], number, askedOurs)
		if lost != 0 {
			t.Errorf("%s: edgeproxy lost %d of %d, want none", v.says, lost, len(v.asks))
		}
		fmt.Fprintf(&table, "| %s | %d of %d | %d | %d |\n", v.says, lost, len(v.asks),
			v.lost(t, nginxAddress, number, askedNginx), v.lost(t, varnishAddress, number, askedVarnish))
	}
	t.Log("\n" + table.String())
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("docs/conformance.md does not have this table")
	}
}

func startNginxBefore(t *testing.T, program, origin string) (address string) {
	t.Helper()
	dir, address := t.TempDir(), testkit.QuietAddress(t)
	testkit.StartNginx(t, program, dir, nginxConfig(dir, fmt.Sprintf(`proxy_cache_path %s/cache keys_zone=c:10m;
server { listen %s; location / { proxy_pass http://%s; proxy_cache c; } }
`, dir, address, origin)), address)
	return address
}
