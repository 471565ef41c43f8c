package recipes

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// The type behind is an edge with a recipe's file before an origin.
type behind struct {
	t       *testing.T
	address string
	admin   string
	origin  *counted
}

// counted is an origin that counts the requests that it got and the bytes of content that it sent.
type counted struct {
	*httptest.Server

	t *testing.T

	requests, bytes atomic.Int64
	running         atomic.Int64 // requests that are not answered to the end
}

type countedWriter struct {
	http.ResponseWriter

	bytes *atomic.Int64
}

func (w countedWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}

// Unwrap is for http.ResponseController.
func (w countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func newOrigin(t *testing.T, h http.Handler) *counted {
	t.Helper()
	testkit.Slow(t, "it is an origin of the built program")
	testkit.Plain(t, "the program does the work")
	c := &counted{t: t}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		c.running.Add(1)
		defer c.running.Add(-1)
		h.ServeHTTP(countedWriter{w, &c.bytes}, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// start runs the recipe of this name before an origin, with further changes of its text.
func startRecipe(t *testing.T, name string, h http.HandlerFunc, oldNew ...string) *behind {
	t.Helper()
	o := newOrigin(t, h)
	oldNew = append([]string{originThere, o.Listener.Addr().String()}, oldNew...)
	served := serve(t, block(t, recipes, name, oldNew...))
	return &behind{t: t, origin: o, address: served.Addresses[0], admin: served.Admin}
}

// metrics scrapes the edge.
func (b *behind) metrics() testkit.Series {
	b.t.Helper()
	return scrape(b.t, b.admin)
}

// anyPort and onDisk are changes of most recipes.
func anyPort() []string { return []string{listenOurs, `"127.0.0.1:0"`} }

func onDisk(t *testing.T, size string) []string {
	t.Helper()
	return append(anyPort(), folderOurs, filepath.Join(t.TempDir(), "cache"), size, "128MiB")
}

// rests waits until the origin has answered all requests to their end.
func (c *counted) rests() {
	c.t.Helper()
	testkit.Eventually(c.t, "the origin rests", func() bool { return c.running.Load() == 0 })
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   []byte
	asked  int64 // requests to the origin meanwhile
	sent   int64 // bytes from the origin meanwhile
}

// ask sends one request with these fields, each a name and a value.
func (b *behind) ask(method, target string, fields ...string) answer {
	b.t.Helper()
	requests, sent := b.origin.requests.Load(), b.origin.bytes.Load()
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.address+target, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Add(fields[i], fields[i+1])
	}
	req.Host = req.Header.Get("Host")
	client := &http.Client{Timeout: 2 * testkit.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, body, b.origin.requests.Load() - requests, b.origin.bytes.Load() - sent}
}

// ttl returns how long the stored response for target is still fresh, by its Cache-Status.
func (b *behind) ttl(target string) time.Duration {
	b.t.Helper()
	status := b.ask(http.MethodGet, target).header.Get("Cache-Status")
	_, text, ok := strings.Cut(status, "; hit; ttl=")
	seconds, err := strconv.Atoi(text)
	if !ok || err != nil {
		b.t.Errorf("%s: got Cache-Status %q, want a hit", target, status)
	}
	return time.Duration(seconds) * time.Second
}

// wants asks with GET and fails the test unless the origin was asked so often and the body is right.
func (b *behind) wants(asked int64, body, target string, fields ...string) {
	b.t.Helper()
	if a := b.ask(http.MethodGet, target, fields...); a.asked != asked || string(a.body) != body {
		b.t.Errorf("%s %v: the origin was asked %d times and the client got %q, want %d and %q", target, fields, a.asked, a.body, asked, body)
	}
}

func TestWordPress(t *testing.T) {
	t.Parallel()
	var comments atomic.Int64
	b := startRecipe(t, "wordpress", func(w http.ResponseWriter, r *http.Request) {
		cookie := r.Header.Get("Cookie")
		switch {
		case r.Method == http.MethodPost:
			comments.Add(1)
			w.Header().Set("Location", "/hello/")
			w.Header().Set("Set-Cookie", "comment_author_x=Ann")
			w.WriteHeader(http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/wp-admin"):
			_, _ = io.WriteString(w, "admin")
		case strings.Contains(cookie, "wordpress_logged_in_"):
			_, _ = io.WriteString(w, "page of "+cookie)
		default:
			_, _ = fmt.Fprintf(w, "page with %d comments, %s", comments.Load(), r.URL.RawQuery)
		}
	}, anyPort()...)

	const page = "page with 0 comments, "
	b.wants(1, page, "/hello/")
	b.wants(1, page, "/hello/", "Cookie", "_ga=1; _gid=2")
	b.wants(0, page, "/hello/")
	b.wants(0, page, "/hello/", "Cookie", "_ga_X1=7")
	b.wants(0, page, "/hello/?utm_source=mail&fbclid=1")

	for range 3 {
		b.wants(1, "page of wordpress_logged_in_ab=ann", "/hello/", "Cookie", "wordpress_logged_in_ab=ann")
		b.wants(0, page, "/hello/")
		b.wants(1, "admin", "/wp-admin/index.php")
	}

	if a := b.ask(http.MethodPost, "/wp-comments-post.php"); a.status != http.StatusFound || a.asked != 1 {
		t.Errorf("comment: got %d, asked %d times", a.status, a.asked)
	}
	b.wants(1, "page with 1 comments, ", "/hello/")
	b.wants(0, "page with 1 comments, ", "/hello/")

	// A visitor with another cookie gets what is stored, and causes nothing to be stored.
	b.wants(0, "page with 1 comments, ", "/hello/", "Cookie", "theme=dark")
	for range 3 {
		b.wants(1, "page with 1 comments, ", "/about/", "Cookie", "theme=dark")
	}
	b.wants(1, "page with 1 comments, ", "/about/")
	b.wants(0, "page with 1 comments, ", "/about/")
	if ttl := b.ttl("/about/"); ttl <= 4*time.Minute || ttl > 5*time.Minute {
		t.Errorf("a page has %v left, want a little less than five minutes", ttl)
	}
}

func TestMirrorOfPackages(t *testing.T) {
	t.Parallel()
	large := []byte(testkit.Numbered(9 << 20)) // larger than memory takes
	b := startRecipe(t, "packages", func(w http.ResponseWriter, r *http.Request) {
		content := []byte("index")
		if strings.HasPrefix(r.URL.Path, "/debian/pool/") {
			content = large
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}, onDisk(t, "200GiB")...)

	const deb = "/debian/pool/main/g/go.deb"
	for n := range 2 {
		if a := b.ask(http.MethodGet, deb); a.sent != int64(len(large)) || !bytes.Equal(a.body, large) {
			t.Errorf("download %d: the origin sent %d bytes, the client got %d", n+1, a.sent, len(a.body))
		}
	}
	// What is stored is on its way to the disk, and a client that comes meanwhile may ask the origin.
	testkit.Eventually(t, "the package is stored", func() bool { return b.ask(http.MethodHead, deb).asked == 0 })
	if a := b.ask(http.MethodGet, deb); a.asked != 0 || !bytes.Equal(a.body, large) {
		t.Errorf("third download: the origin was asked %d times, the client got %d bytes", a.asked, len(a.body))
	}
	if a := b.ask(http.MethodGet, deb, "Range", fmt.Sprintf("bytes=%d-", 5<<20)); a.asked != 0 || a.status != http.StatusPartialContent || !bytes.Equal(a.body, large[5<<20:]) {
		t.Errorf("resumed download: got %d, %d bytes, the origin was asked %d times", a.status, len(a.body), a.asked)
	}

	b.wants(1, "index", "/debian/dists/stable/InRelease")
	b.wants(1, "index", "/debian/dists/stable/InRelease")
	b.wants(0, "index", "/debian/dists/stable/InRelease")
	if a := b.ask(http.MethodGet, "/debian/dists/stable/InRelease", "If-None-Match", `"1"`); a.status != http.StatusNotModified || a.asked != 0 {
		t.Errorf("a client that validates: got %d, the origin was asked %d times", a.status, a.asked)
	}
	if ttl := b.ttl("/debian/dists/stable/InRelease"); ttl <= 0 || ttl > time.Minute {
		t.Errorf("an index has %v left, want at most a minute", ttl)
	}
	if ttl := b.ttl(deb); ttl <= 719*time.Hour || ttl > 720*time.Hour {
		t.Errorf("a package has %v left, want 720h", ttl)
	}
}

// An index that is no longer fresh costs the origin a 304. For the test it is fresh for a second.
func TestMirrorValidatesItsIndexes(t *testing.T) {
	t.Parallel()
	var validated atomic.Int64
	b := startRecipe(t, "packages", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` {
			validated.Add(1)
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("index"))
	}, append(onDisk(t, "200GiB"), "default_ttl: 1m", "default_ttl: 1s")...)
	const index = "/debian/dists/stable/InRelease"
	b.wants(1, "index", index)
	b.wants(1, "index", index)
	testkit.Eventually(t, "the index is validated", func() bool {
		before := validated.Load()
		a := b.ask(http.MethodGet, index)
		if string(a.body) != "index" {
			t.Errorf("got %q", a.body)
		}
		return a.asked == 1 && validated.Load() == before+1 && a.sent == 0
	})
}

// TestLongPolls: three polls of one URL are at the origin at once, or nobody gets an answer.
func TestLongPolls(t *testing.T) {
	t.Parallel()
	const polls = 3
	var here sync.WaitGroup
	here.Add(polls)
	var n atomic.Int64
	b := startRecipe(t, "streams", func(w http.ResponseWriter, _ *http.Request) {
		here.Done()
		here.Wait()
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprint(w, n.Add(1))
	}, anyPort()...)
	var clients sync.WaitGroup
	got := make([]string, polls)
	for i := range polls {
		clients.Go(func() {
			res, err := http.Get("http://" + b.address + "/events/poll")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			got[i] = string(body)
		})
	}
	clients.Wait()
	if a, c, d := got[0], got[1], got[2]; a == c || c == d || a == d {
		t.Errorf("got %q, want an answer of its own for each", got)
	}
	if got := b.origin.requests.Load(); got != polls {
		t.Errorf("the origin got %d requests, want %d", got, polls)
	}
	if got := b.metrics().Sum("edgeproxy_cache_writes_total"); got != 0 {
		t.Errorf("%.0f answers are stored, want none", got)
	}
}

// TestTimeoutsOfStreams: a poll that takes longer than first_byte_timeout gets 504, and a stream that pauses for longer
// than idle_timeout is cut. For the test both are short.
func TestTimeoutsOfStreams(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 2)
	b := startRecipe(t, "streams", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events/feed" {
			_, _ = io.WriteString(w, "data: 1\n\n")
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
		<-r.Context().Done()
		ended <- struct{}{}
	}, append(anyPort(), "first_byte_timeout: 2m, idle_timeout: 2m", "first_byte_timeout: 300ms, idle_timeout: 300ms")...)
	if a := b.ask(http.MethodGet, "/events/poll"); a.status != http.StatusGatewayTimeout || a.asked != 1 {
		t.Errorf("a poll: got %d, the origin was asked %d times, want 504 and once", a.status, a.asked)
	}
	<-ended
	res, err := http.Get("http://" + b.address + "/events/feed")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); string(body) != "data: 1\n\n" || err == nil {
		t.Errorf("a stream: got %q and %v, want its event and a cut", body, err)
	}
	<-ended
}

// TestClientsLeaveStreams: the origin need not go on for a client that is gone.
func TestClientsLeaveStreams(t *testing.T) {
	t.Parallel()
	here, ended := make(chan struct{}), make(chan struct{})
	b := startRecipe(t, "streams", func(_ http.ResponseWriter, r *http.Request) {
		close(here)
		<-r.Context().Done()
		close(ended)
	}, anyPort()...)
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /events/poll HTTP/1.1\r\nHost: www.example.com\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-here
	_ = c.Close()
	select {
	case <-ended:
	case <-time.After(testkit.Patience):
		t.Error("the client has left, and the origin's request goes on")
	}
}

// TestServerSentEvents: the origin sends an event once the client has the one before.
func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	b := startRecipe(t, "streams", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			if http.NewResponseController(w).Flush() != nil {
				return
			}
			<-next
		}
	}, anyPort()...)
	res, err := http.Get("http://" + b.address + "/events/feed")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for i := range 3 {
		want := fmt.Sprintf("data: %d\n\n", i)
		event := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, event); err != nil || string(event) != want {
			t.Fatalf("event %d: got %q and %v", i, event, err)
		}
		next <- struct{}{}
	}
	if rest, err := io.ReadAll(res.Body); len(rest) > 0 || err != nil {
		t.Errorf("the end: got %q and %v", rest, err)
	}
}

func TestVideo(t *testing.T) {
	t.Parallel()
	film := []byte(testkit.Numbered(20 << 20))
	b := startRecipe(t, "video", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Cache-Control", "max-age=600")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(film))
	}, onDisk(t, "500GiB")...)
	seek := func(at int) answer {
		t.Helper()
		// What a viewer does not want any more may be on its way still, and is none of the next one's.
		b.origin.rests()
		a := b.ask(http.MethodGet, "/video/film.mp4", "Range", fmt.Sprintf("bytes=%d-%d", at, at+99_999))
		if a.status != http.StatusPartialContent || !bytes.Equal(a.body, film[at:at+100_000]) {
			t.Errorf("range at %d: got %d and %d bytes", at, a.status, len(a.body))
		}
		return a
	}
	const place = 10<<20 + 200_000
	for n := range 2 {
		if a := seek(place); a.sent > 1<<20 {
			t.Errorf("viewer %d: the origin sent %d bytes, want a slice at most", n+1, a.sent)
		}
	}
	if a := seek(place); a.asked != 0 {
		t.Errorf("third viewer: the origin was asked %d times", a.asked)
	}
	if a := seek(place + 300_000); a.asked != 0 {
		t.Errorf("in the same slice: the origin was asked %d times", a.asked)
	}
	// Requests for the film are counted: the first viewer of another place stores its slice.
	for n, asked := range []int64{1, 0} {
		if a := seek(1 << 20); a.asked != asked || a.sent > 1<<20 {
			t.Errorf("another place, viewer %d: the origin was asked %d times and sent %d bytes, want %d and a slice", n+1, a.asked, a.sent, asked)
		}
	}
	const two = 2 << 20
	testkit.Eventually(t, "two slices are on the disk, and no more", func() bool {
		m := b.metrics()
		bytes := m[`edgeproxy_cache_bytes{tier="disk"}`]
		return m[`edgeproxy_cache_objects{tier="disk"}`] == 2 && bytes > two && bytes < two+64<<10
	})
}

// TestVideosWithoutAStrongValidatorAreNotStored: they pass. An old Last-Modified is one.
func TestVideosWithoutAStrongValidatorAreNotStored(t *testing.T) {
	t.Parallel()
	film := []byte(testkit.Numbered(2 << 20))
	b := startRecipe(t, "video", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		switch r.URL.Path {
		case "/video/weak.mp4":
			w.Header().Set("ETag", `W/"1"`)
		case "/video/dated.mp4":
			w.Header().Set("Last-Modified", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(film))
	}, onDisk(t, "500GiB")...)
	fetches := 0.0
	for target, sliced := range map[string]bool{"/video/none.mp4": false, "/video/weak.mp4": false, "/video/dated.mp4": true} {
		for n := range 3 {
			b.origin.rests()
			a := b.ask(http.MethodGet, target, "Range", "bytes=100-100099") // which a small range of a slice is not
			if a.status != http.StatusPartialContent || !bytes.Equal(a.body, film[100:100100]) || (a.asked > 0) != (n < 2 || !sliced) {
				t.Errorf("%s, viewer %d: got %d, %d bytes, the origin was asked %d times", target, n+1, a.status, len(a.body), a.asked)
			}
			// A fetch that goes on would be shared by the next viewer.
			fetches += float64(a.asked)
			testkit.Eventually(t, "the fetch ends", func() bool { return b.metrics().Sum("edgeproxy_fills_total") >= fetches })
		}
	}
	testkit.Eventually(t, "the slice of one is on the disk, and nothing else", func() bool {
		return b.metrics()[`edgeproxy_cache_objects{tier="disk"}`] == 1
	})
}

func TestSeveralApplications(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users": "ann:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n", "not-found.html": "<p>Not here", "sorry.html": "<p>Sorry",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := startRecipe(t, "applications", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		switch r.URL.Path {
		case "/v2/new":
			http.Redirect(w, r, "/v2/login", http.StatusSeeOther)
		case "/none":
			http.NotFound(w, r)
		case "/broken":
			http.Error(w, "trace of the inside", http.StatusInternalServerError)
		default:
			_, _ = fmt.Fprintf(w, "%s %q", r.URL, r.Header["Authorization"])
		}
	}, append(anyPort(), "/etc/edgeproxy/", dir+"/")...)

	for _, asked := range []int64{1, 1, 0} {
		b.wants(asked, "/v2/list?a=b []", "/api/list?a=b")
	}
	if a := b.ask(http.MethodPost, "/api/new"); a.header.Get("Location") != "/api/login" {
		t.Errorf("a redirect of the API leads to %q", a.header.Get("Location"))
	}
	const ann = "Basic YW5uOm9wZW4gc2VzYW1l"
	for _, asked := range []int64{1, 1, 0} {
		b.wants(0, "Unauthorized\n", "/staff/a")
		b.wants(asked, "/staff/a []", "/staff/a", "Authorization", ann)
	}
	b.wants(0, "Unauthorized\n", "/staff/a", "Authorization", ann+"x")
	for target, want := range map[string]int{"/none": http.StatusNotFound, "/broken": http.StatusInternalServerError} {
		if a := b.ask(http.MethodGet, target); a.status != want || !strings.HasPrefix(string(a.body), "<p>") || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: got %d %q", target, a.status, a.body)
		}
	}
	b.origin.Close()
	if a := b.ask(http.MethodGet, "/else"); a.status != http.StatusBadGateway || string(a.body) != "<p>Sorry" {
		t.Errorf("with the origin down: got %d %q", a.status, a.body)
	}
}

// TestSeveralSites: routes within a site have its hosts, its origin and what it says.
func TestSeveralSites(t *testing.T) {
	t.Parallel()
	blog := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, "blog %s", r.URL) }))
	b := startRecipe(t, "sites", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Powered-By", "a shop")
		_, _ = fmt.Fprintf(w, "shop %s %s", r.URL, r.Header["Cookie"])
	}, append(anyPort(), "127.0.0.1:3001", blog.Listener.Addr().String())...)
	const cookies = "_ga=1; session=2"
	for _, asked := range []int64{1, 1, 0} {
		b.wants(asked, "shop /list []", "/list", "Host", "shop.example.com", "Cookie", "_ga=1")
		b.wants(asked, "shop /static/a.css []", "/static/a.css", "Host", "www.shop.example.com", "Cookie", cookies)
	}
	for range 3 {
		b.wants(1, "shop /cart [session=2]", "/cart", "Host", "shop.example.com", "Cookie", cookies)
	}
	if a := b.ask(http.MethodGet, "/cart", "Host", "shop.example.com"); a.header.Get("X-Powered-By") != "" {
		t.Errorf("a route within the site shows X-Powered-By: %s", a.header.Get("X-Powered-By"))
	}
	if a := b.ask(http.MethodGet, "/old", "Host", "shop.example.com"); a.status != http.StatusPermanentRedirect || a.header.Get("Location") != "https://shop.example.com/new" {
		t.Errorf("/old: got %d to %q", a.status, a.header.Get("Location"))
	}
	b.wants(0, "blog /cart", "/cart", "Host", "blog.example.com")
	if a := b.ask(http.MethodGet, "/cart", "Host", "other.example.com"); a.status != http.StatusMisdirectedRequest {
		t.Errorf("another host: got %d", a.status)
	}
	m := b.metrics()
	for route, want := range map[string]float64{"shop.cart": 4, "shop.static": 3, "shop.old": 1, "shop": 3, "blog": 1} {
		got := 0.0
		for series, n := range m {
			if strings.HasPrefix(series, "edgeproxy_requests_total{") && strings.Contains(series, `route="`+route+`"`) {
				got += n
			}
		}
		if got != want {
			t.Errorf("route %s: %.0f requests, want %.0f", route, got, want)
		}
	}
}

// TestPagesByDevice: a page for each class of clients, however many browsers there are, and none for another class.
func TestPagesByDevice(t *testing.T) {
	t.Parallel()
	var vary atomic.Bool
	b := startRecipe(t, "devices", func(w http.ResponseWriter, r *http.Request) {
		if vary.Load() {
			w.Header().Set("Vary", "X-Device")
		}
		_, _ = fmt.Fprintf(w, "for a %s", r.Header["X-Device"])
	}, anyPort()...)
	browsers := [][2]string{
		{"desktop", "Mozilla/5.0 (X11; Linux x86_64) Chrome/%d.0 Safari/537.36"},
		{"tablet", "Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Version/%d.0 Mobile/15E148 Safari/604.1"},
		{"phone", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/%d.0 Mobile Safari/537.36"},
	}
	for _, varies := range []bool{false, true} {
		vary.Store(varies)
		target := fmt.Sprintf("/?varies=%t", varies)
		for n := range 4 {
			for class, browser := range browsers {
				// Requests for the URL are counted together, those for its variants are not.
				asked := int64(0)
				if n == 0 || n == 1 && (varies || class == 0) {
					asked = 1
				}
				b.wants(asked, "for a ["+browser[0]+"]", target, "User-Agent", fmt.Sprintf(browser[1], n), "X-Device", "mine")
			}
		}
		b.wants(0, "for a [desktop]", target, "User-Agent", "curl/8")
	}
}

// TestLiveVideo: blocking requests for a playlist are one fetch, whose response is stored.
func TestLiveVideo(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	b := startRecipe(t, "live", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("_HLS_msn") {
			<-ready
		}
		_, _ = fmt.Fprintf(w, "#EXTM3U for %s", r.URL.RawQuery)
	}, append(anyPort(), "default_ttl: 1s", "default_ttl: 1h")...)
	const players, target = 20, "/live/720p.m3u8?_HLS_msn=7&_HLS_part=2"
	var wait sync.WaitGroup
	for range players {
		wait.Go(func() {
			res, err := http.Get("http://" + b.address + target)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err != nil || string(body) != "#EXTM3U for _HLS_msn=7&_HLS_part=2" {
				t.Errorf("got %q and %v", body, err)
			}
		})
	}
	testkit.Eventually(t, "all players wait", func() bool { return b.metrics()["edgeproxy_requests_in_flight"] == players })
	close(ready)
	wait.Wait()
	if n := b.origin.requests.Load(); n != 1 {
		t.Errorf("%d players: %d requests to the origin, want 1", players, n)
	}
	b.wants(0, "#EXTM3U for _HLS_msn=7&_HLS_part=2", target)
	b.wants(1, "#EXTM3U for _HLS_msn=7&_HLS_part=3", "/live/720p.m3u8?_HLS_msn=7&_HLS_part=3")
}
