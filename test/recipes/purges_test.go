package recipes

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// purges is the page whose rows are run here.
const purges = "../../docs/operating/purges.md"

// What the page says of the site.
const (
	ourHost   = "www.example.com"
	otherHost = "other.example.com"
)

// taggedPages are the pages of the site, with their tags.
var taggedPages = map[string][]string{
	"/": {"home"}, "/blog/": {"list", "p-1", "p-2"}, "/blog/one": {"p-1"}, "/blog/two": {"p-2", "list"}, "/about": {"p-10"}, "/style.css": {"asset"},
}

// program is one of the sections of the page.
type program struct {
	vcl    string            // what it documents for Varnish; "": nothing
	xkey   bool              // which needs varnish-modules
	fields map[string]string // fields of responses, with what stands between two tags
}

var programs = map[string]program{
	"wordpress":    {vcl: "purge-wordpress.vcl", fields: map[string]string{"X-Cache-Tags": ","}},
	"w3tc":         {vcl: "purge-w3tc.vcl"},
	"foshttpcache": {vcl: "purge-foshttpcache.vcl", xkey: true, fields: map[string]string{"X-Cache-Tags": ",", "xkey": " "}},
	"magento":      {vcl: "purge-magento.vcl", fields: map[string]string{"X-Magento-Tags": ","}},
	"drupal":       {vcl: "purge-drupal.vcl", fields: map[string]string{"Cache-Tags": " ", "Purge-Cache-Tags": " "}},
	"others":       {vcl: "purge-others.vcl", xkey: true, fields: map[string]string{"xkey": " ", "Cache-Tags": ","}},
	"fastly":       {fields: map[string]string{"Surrogate-Key": " "}},
	"refused":      {fields: map[string]string{"Surrogate-Key": " "}},
}

// purgeRow is a row of the page.
type purgeRow struct {
	request  []string // the request line without its version, and fields
	gone     []string // pages of our host
	refused  bool     // 400
	compared bool     // with Varnish
	varnish  []string // what is gone there
}

// TestAPurgeWasAnsweredOKAndNotDone runs each row of the page with what programs send to purge: the same requests before
// Varnish, with what these programs document for it, and before edgeproxy.
func TestAPurgeWasAnsweredOKAndNotDone(t *testing.T) {
	t.Parallel()
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := purgeRows(t, name)
			t.Run("edgeproxy", func(t *testing.T) {
				t.Parallel()
				purgesOfEdge(t, p, rows)
			})
			if p.vcl != "" {
				t.Run("Varnish", func(t *testing.T) {
					t.Parallel()
					purgesOfVarnish(t, p, rows)
				})
			}
		})
	}
}

func purgesOfEdge(t *testing.T, p program, rows []purgeRow) {
	t.Helper()
	doors := serveTagged(t, newTaggedSite(t, p.fields))
	for _, row := range rows {
		for _, d := range doors { // a purge by http reaches what is stored as https, and the other way round
			before := known(t, doors)
			status, text := d.purge(t, row.request)
			switch {
			case row.refused && (status != http.StatusBadRequest || !strings.Contains(text, "nothing is purged: ")):
				t.Errorf("%q: got %d and %q, want 400 that says what is not understood", row.request, status, text)
			case !row.refused && status != http.StatusOK:
				t.Errorf("%q: got %d and %q, want 200", row.request, status, text)
			}
			lost(t, row, doors, before, row.gone)
		}
	}
}

// serveTagged runs edgeproxy before a site, with the settings of the page. It has a door for http and one for https.
func serveTagged(t *testing.T, origin *httptest.Server) []door {
	t.Helper()
	dir := t.TempDir()
	pair := testkit.NewAuthority(t).Good(ourHost, otherHost)
	testkit.WritePair(t, pair, filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"))
	served := serve(t, fmt.Sprintf(`listen: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", tls: true}]
tls: {certificates: [{certificate: %s/chain.pem, key: %s/key.pem}]}
origins: {app: {servers: ["http://%s"]}}
admission: {policy: always}
`, dir, dir, origin.Listener.Addr())+block(t, purges, "purge-allow"))
	return []door{{address: served.Addresses[0]}, {address: served.Addresses[1], secure: true}}
}

func purgesOfVarnish(t *testing.T, p program, rows []purgeRow) {
	t.Helper()
	varnishd := testkit.Program(t, "varnishd", "/usr/sbin/varnishd")
	if p.xkey {
		testkit.File(t, "/usr/lib/*/varnish/vmods/libvmod_xkey.so")
	}
	origin := newTaggedSite(t, p.fields)
	vcl, err := os.ReadFile(filepath.Join("testdata", p.vcl))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(origin.Listener.Addr().String())
	address, _ := startVarnish(t, varnishd, strings.Replace(string(vcl), `"3000"`, `"`+port+`"`, 1))
	doors := []door{{address: address}}
	compared := 0
	for _, row := range rows {
		if !row.compared {
			continue
		}
		compared++
		before := known(t, doors)
		if status, text := doors[0].purge(t, row.request); status != http.StatusOK {
			t.Errorf("%q: got %d and %q, want 200", row.request, status, text)
		}
		lost(t, row, doors, before, row.varnish)
	}
	if compared == 0 {
		t.Error("no row is compared with Varnish")
	}
}

// door is a listener of a proxy.
type door struct {
	address string
	secure  bool
}

func (d door) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", d.address, testkit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if d.secure {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: ourHost})
	}
	return c
}

// send sends one request, byte for byte, and returns the answer.
func (d door) send(t *testing.T, line string, fields ...string) (status int, text string) {
	t.Helper()
	c := d.dial(t)
	defer c.Close()
	_, err := fmt.Fprintf(c, "%s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", line, strings.Join(fields, "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// purge sends the request of a row, for our host if it names none.
func (d door) purge(t *testing.T, request []string) (status int, text string) {
	t.Helper()
	fields := request[1:]
	if !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "Host: ") }) {
		fields = append([]string{"Host: " + ourHost}, fields...)
	}
	return d.send(t, request[0], fields...)
}

// page is a stored page: its URL without the scheme, by a listener.
type page struct {
	door door
	url  string
}

// get returns what a client gets of a page.
func (p page) get(t *testing.T) string {
	t.Helper()
	host, path, _ := strings.Cut(p.url, "/")
	status, text := p.door.send(t, "GET /"+path, "Host: "+host)
	if status != http.StatusOK {
		t.Fatalf("%s: got %d", p.url, status)
	}
	return text
}

// known returns what is stored of each page of both hosts.
func known(t *testing.T, doors []door) map[page]string {
	t.Helper()
	out := map[page]string{}
	for _, d := range doors {
		for path := range taggedPages {
			for _, host := range []string{ourHost, otherHost} {
				p := page{d, host + path}
				testkit.Eventually(t, p.url+" is stored", func() bool {
					out[p] = p.get(t)
					return p.get(t) == out[p]
				})
			}
		}
	}
	return out
}

// lost fails the test unless these pages are gone, and no other: without a host they are ours. A soft purge may give the old one once more.
func lost(t *testing.T, row purgeRow, doors []door, before map[page]string, gone []string) {
	t.Helper()
	left := maps.Clone(before)
	for _, url := range gone {
		if strings.HasPrefix(url, "/") {
			url = ourHost + url
		}
		for _, d := range doors {
			p := page{d, url}
			if !testkit.ComesTrue(func() bool { return p.get(t) != before[p] }) {
				t.Errorf("%q: %s is still stored (https: %v)", row.request, url, d.secure)
			}
			delete(left, p)
		}
	}
	for p, text := range left {
		if p.get(t) != text {
			t.Errorf("%q: %s is gone (https: %v), want it to stay", row.request, p.url, p.door.secure)
		}
	}
}

// newTaggedSite answers each request with another text, with the tags of its page in these fields.
func newTaggedSite(t *testing.T, fields map[string]string) *httptest.Server {
	t.Helper()
	testkit.Slow(t, "it is an origin of the built program")
	testkit.Plain(t, "the program does the work")
	var served atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Type", "text/html")
		for name, between := range fields {
			w.Header().Set(name, strings.Join(taggedPages[r.URL.Path], between))
		}
		_, _ = fmt.Fprintf(w, "%s %d", r.URL, served.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

// purgeRows returns the rows of a section of the page.
func purgeRows(t *testing.T, section string) (rows []purgeRow) {
	t.Helper()
	text, err := os.ReadFile(purges)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)<!-- purges ` + section + ` -->\n(.*?)<!-- /purges ` + section + ` -->`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no section %q", purges, section)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(found[1])), "\n") {
		if i < 2 { // the heading of the table
			continue
		}
		rows = append(rows, readPurgeRow(t, line))
	}
	if len(rows) == 0 {
		t.Fatalf("%s: section %q has no rows", purges, section)
	}
	return rows
}

// readPurgeRow reads | what is done | request | gone | in Varnish |.
func readPurgeRow(t *testing.T, line string) (row purgeRow) {
	t.Helper()
	const pipe = "\x00"
	cells := strings.Split(strings.ReplaceAll(line, `\|`, pipe), "|")
	if len(cells) != 6 {
		t.Fatalf("%s: want four cells", line)
	}
	code := func(cell string) (out []string) {
		for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
			out = append(out, strings.ReplaceAll(m[1], pipe, "|"))
		}
		return out
	}
	row.request = code(cells[2])
	switch strings.TrimSpace(cells[3]) {
	case "400":
		row.refused = true
	case "all":
		row.gone = slices.Sorted(maps.Keys(taggedPages))
	default:
		row.gone = code(cells[3])
	}
	switch there := strings.TrimSpace(cells[4]); {
	case strings.HasPrefix(there, "the same"):
		row.compared = true
		row.varnish = append(slices.Clone(row.gone), code(cells[4])...)
		if strings.HasSuffix(there, "all of the other host") {
			for path := range taggedPages {
				row.varnish = append(row.varnish, otherHost+path)
			}
		}
	case strings.HasPrefix(there, "nothing"):
		row.compared = true
	case there != "":
		t.Fatalf("%s: want the same, nothing or an empty cell for Varnish", line)
	}
	if len(row.request) == 0 || !row.refused && len(row.gone) == 0 {
		t.Fatalf("%s: want a request, and what is gone", line)
	}
	return row
}

// A purge by HTTP/2 reaches what is stored by http, too.
func TestAPurgeByHTTP2ReachesBothSchemes(t *testing.T) {
	t.Parallel()
	origin := newTaggedSite(t, map[string]string{"xkey": " "})
	doors := serveTagged(t, origin)
	client := testkit.SecureClient(t, doors[1].address, true)
	for _, row := range []purgeRow{
		{request: []string{"PURGE /blog/.*", "X-Purge-Method: regex"}, gone: []string{"/blog/", "/blog/one", "/blog/two"}},
		{request: []string{"PURGEKEYS /", "xkey-purge: p-10"}, gone: []string{"/about"}},
	} {
		before := known(t, doors)
		method, target, _ := strings.Cut(row.request[0], " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "https://"+ourHost+target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(row.request[1], ": ")
		req.Header.Set(name, value)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
			t.Errorf("%q: got %d by %s, want 200 by HTTP/2", row.request, res.StatusCode, res.Proto)
		}
		lost(t, row, doors, before, row.gone)
	}
}
