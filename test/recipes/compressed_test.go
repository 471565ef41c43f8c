package recipes

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestCompressedPages(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<p>a line of a page</p>\n", 200)
	b := startRecipe(t, "compressed", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.Header().Set("Content-Type", "image/png")
		case strings.HasSuffix(r.URL.Path, ".gz"):
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "x-own")
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, page)
	}, anyPort()...)
	wants := func(asked int64, coding, target, accepts string) {
		t.Helper()
		a := b.ask(http.MethodGet, target, "Accept-Encoding", accepts)
		got, body := a.header.Get("Content-Encoding"), string(a.body)
		if coding != "x-own" {
			var err error
			if body, err = testkit.Decoded(got, body); err != nil {
				t.Errorf("%s, %s: %v", target, accepts, err)
			}
		}
		if a.asked != asked || got != coding || body != page || coding != "" && coding != "x-own" && len(a.body) > len(page)/10 {
			t.Errorf("%s, %s: the origin was asked %d times, the client got %d bytes by %q, want %d and %q", target, accepts, a.asked, len(a.body), got, asked, coding)
		}
	}
	const browser, tool = "gzip, deflate, br, zstd", "gzip"
	wants(1, "zstd", "/", browser)
	wants(1, "zstd", "/", browser)
	wants(0, "zstd", "/", browser)
	wants(1, "gzip", "/", tool)
	wants(0, "gzip", "/", tool)
	wants(1, "", "/", "identity")
	wants(0, "", "/", "identity")
	wants(0, "zstd", "/", "br;q=1, zstd;q=0.1, gzip")

	wants(1, "", "/a.png", browser)
	wants(1, "", "/a.png", tool)
	wants(0, "", "/a.png", "identity")
	wants(1, "x-own", "/a.gz", browser)
	wants(1, "", "/account/form", browser)
}
