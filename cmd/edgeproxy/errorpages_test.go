package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesAreReadAgain with each reload. One that cannot be read changes nothing.
func TestPagesAreReadAgain(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "sorry.HTML")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("<p>one")
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nroutes: [{name: site, origin: app, error_pages: {502: %q, 4xx: %q}}]\n", page, page))
	f := func(want string) {
		t.Helper()
		res, body := get(t, "http://"+c.address+"/a")
		if res.StatusCode != 502 || body != want || res.Header.Get("Content-Type") != "text/html; charset=utf-8" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %q %v, want %q", res.StatusCode, body, res.Header, want)
		}
	}
	f("<p>one")
	put("<p>two")
	f("<p>one")
	if got := c.reload(); got.code != exitDone {
		t.Fatalf("reload: %+v", got)
	}
	f("<p>two")
	put(strings.Repeat("x", 256<<10+1))
	if got, want := c.reload(), "routes[0].error_pages.502: "+page+": must be a file of at most 256KiB\n"; got.code != exitUsage || !strings.Contains(got.stderr, want) {
		t.Errorf("reload: got %+v, want %q", got, want)
	}
	f("<p>two")
}

func TestPagesAreCheckedByPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := writeFile(t, "edge.yaml", fmt.Sprintf(`
origins: {app: {servers: ["http://h"]}}
routes:
  - {name: a, origin: app, error_pages: {404: %q, 500: page.php, 4xx: %q, 503: page}}
`, filepath.Join(dir, "none.html"), dir+"/"))
	got := runBinary(t, "check", "-c", path)
	const ends = "must be a file whose name ends in .htm, .html, .json, .svg, .txt, .xml\n"
	for _, want := range []string{
		"routes[0].error_pages.404: " + filepath.Join(dir, "none.html") + ": must be a file that can be read: no such file or directory\n",
		"routes[0].error_pages.4xx: " + dir + "/: " + ends,
		"routes[0].error_pages.500: page.php: " + ends,
		"routes[0].error_pages.503: page: " + ends,
	} {
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("got %d %s, want %s", got.code, got.stderr, want)
		}
	}
}
