package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/edgetest"
)

// inspected is an edge with an origin whose /vary… varies by X-Lang, and a client of it.
type inspected struct {
	t      *testing.T
	edge   *edgetest.Edge
	client *http.Client
}

func inspectEdge(t *testing.T, yaml string) *inspected {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Surrogate-Key", "a b")
		w.Header().Set("Etag", `"1"`)
		if strings.HasPrefix(r.URL.Path, "/vary") {
			w.Header().Set("Vary", "X-Lang")
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return &inspected{t, start(t, yaml, edgetest.Options{Origin: server.Listener.Addr().String()}), client}
}

// get asks, and returns what Cache-Status says behind the node.
func (i *inspected) get(path, lang string) string {
	i.t.Helper()
	r, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, "http://"+i.edge.Address+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	if lang != "" {
		r.Header.Set("X-Lang", lang)
	}
	resp, err := i.client.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return strings.TrimPrefix(resp.Header.Get("Cache-Status"), edgetest.Node+"; ")
}

func (i *inspected) inspect(method, path, lang string) proxy.Inspection {
	i.t.Helper()
	q := proxy.Question{Method: method, URL: "http://" + i.edge.Address + path}
	if lang != "" {
		q.Fields = field.List{{Name: "X-Lang", Value: lang}}
	}
	in, release, err := i.edge.Proxy.Inspect(q)
	if err != nil {
		i.t.Fatal(err)
	}
	release()
	return in
}

// held has what is requested once not stored, in no part of the cache.
const held = "cache: {memory: {stage_bytes: 0B}}\n"

// What nobody has asked for stays a first sighting, however often an operator looks it up.
func TestInspectCountsNoSighting(t *testing.T) {
	i := inspectEdge(t, held)
	f := func(path, lang string, sightings int, admit bool, stored bool) {
		t.Helper()
		for range 5 {
			in := i.inspect("GET", path, lang)
			if in.Route != "default" || in.Policy != "second-hit" || !in.Remembers || in.Why != reason.None {
				t.Fatalf("%s: got %+v, want the route and its policy", path, in)
			}
			if in.Sightings != sightings || in.Verdict.Admit != admit || (in.Object != nil) != stored {
				t.Errorf("%s %s: got %d sightings, admit %v, stored %v; want %d, %v, %v", path, lang, in.Sightings, in.Verdict.Admit, in.Object != nil, sightings, admit, stored)
			}
		}
	}
	g := func(path, lang, want string) {
		t.Helper()
		if got := i.get(path, lang); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: got %q, want %q", path, lang, got, want)
		}
	}
	f("/a", "", 0, false, false)
	g("/a", "", "fwd=uri-miss; detail=first-sighting")
	f("/a", "", 1, true, false)
	g("/a", "", "fwd=uri-miss; stored")
	f("/a", "", 1, true, true)
	g("/a", "", "hit")

	// The first of a variant is held back by the sightings of the variant.
	g("/vary", "de", "fwd=uri-miss; detail=first-sighting")
	f("/vary", "de", 1, true, false)
	f("/vary", "fr", 0, false, false)
	g("/vary", "de", "fwd=uri-miss; stored")
	f("/vary", "de", 1, true, true)
	f("/vary", "fr", 0, false, false)
	if in := i.inspect("GET", "/vary", "fr"); len(in.Variants) != 1 || string(in.Variants[0].Object.Name()) == string(in.Name) || in.Object != nil {
		t.Errorf("got %d variants and %v, want that for de, which is not the one asked for", len(in.Variants), in.Object)
	}
	if in := i.inspect("GET", "/a", ""); len(in.Variants) != 0 || in.Origin == "" && in.Route == "" {
		t.Errorf("got %d variants of what does not vary, of the origin %q", len(in.Variants), in.Origin)
	}
	if in := i.inspect("GET", "/vary", "de"); len(in.Vary) != 1 || in.Vary[0] != "X-Lang" {
		t.Errorf("got the fields %q, want X-Lang", in.Vary)
	}
}

// A look-up found what clients had asked for in its own spelling only: of another client's %7e it knew no sighting.
func TestALookUpFindsWhatWasAskedForInAnotherSpelling(t *testing.T) {
	i := inspectEdge(t, held)
	i.get("/%7ea/%d0%bf", "")
	if in := i.inspect("GET", "/~a/\u043f", ""); in.Sightings != 1 || in.Object != nil {
		t.Errorf("got %d sightings, stored %v; want 1, and nothing stored", in.Sightings, in.Object != nil)
	}
	i.get("/~a/%D0%BF", "")
	for _, path := range []string{"/%7Ea/%d0%BF", "/~a/\u043f", "/%7ea/%d0%bf"} {
		if in := i.inspect("GET", path, ""); in.Object == nil || !strings.Contains(string(in.Name), "/~a/%D0%BF") {
			t.Errorf("%s: got stored %v under %q, want what is stored under the normal form", path, in.Object != nil, in.Name)
		}
	}
}

func TestInspectSeesWhatIsStoredAndPurged(t *testing.T) {
	f := func(name, yaml string, want cache.Place) {
		t.Run(name, func(t *testing.T) {
			i := inspectEdge(t, yaml)
			i.get("/a", "")
			in := i.inspect("HEAD", "/a", "")
			if in.Object == nil || in.In != want || in.Purged != purge.Valid || in.Use != rfc9111.UseNow || len(in.Object.Tags()) != 2 {
				t.Fatalf("got %+v, want what is stored, with two tags, %v", in, want)
			}
			if in.Object.Content().Size() != 5 || in.Object.Status() != 200 {
				t.Errorf("got %d bytes and status %d, want 5 and 200", in.Object.Content().Size(), in.Object.Status())
			}
			purged := func(by, value string, soft bool, want purge.State) {
				t.Helper()
				if _, _, err := i.edge.Proxy.Purge(by, []string{value}, soft); err != nil {
					t.Fatal(err)
				}
				for range 2 { // to look does not remove it
					if in := i.inspect("GET", "/a", ""); in.Object == nil || in.Purged != want {
						t.Errorf("%s %q: got %+v, want what is stored and purged as %v", by, value, in, want)
					}
				}
			}
			purged("tag", "a", true, purge.Stale)
			purged("tag", "b", false, purge.Gone)
			if got := i.get("/a", ""); !strings.HasPrefix(got, "fwd=uri-miss") {
				t.Errorf("got %q behind the purge, want a miss", got)
			}
		})
	}
	f("disk", always+`cache: {disk: {path: "{dir}/disk", max_bytes: 64MiB, min_free: 0%}}`, cache.OnDisk)
	if os.Getenv("EDGEPROXY_TEST_DISK") != "1" { // then every edge has a disk
		f("memory", always, cache.InMain)
	}
}

func TestInspectSaysWhyTheCacheIsNotAsked(t *testing.T) {
	i := inspectEdge(t, always)
	f := func(method, path string, want reason.Reason) {
		t.Helper()
		if in := i.inspect(method, path, ""); in.Why != want || in.Object != nil {
			t.Errorf("%s %s: got %+v, want the reason %v", method, path, in, want)
		}
	}
	f("POST", "/a", reason.Method)
	f("GET", "/a//b", reason.AmbiguousPath)
	f("GET", "/a", reason.None)

	g := func(q proxy.Question) {
		t.Helper()
		if _, _, err := i.edge.Proxy.Inspect(q); err == nil {
			t.Errorf("%+v: got no error", q)
		}
	}
	g(proxy.Question{Method: "GET", URL: "/path"})
	g(proxy.Question{Method: "GET", URL: "ftp://example.com/"})
	g(proxy.Question{Method: "G ET", URL: "http://example.com/"})
	g(proxy.Question{Method: "GET", URL: "http://example.com/", Fields: field.List{{Name: "A", Value: "b\r\nc"}}})
	g(proxy.Question{Method: "GET", URL: "http://example.com/", Fields: field.List{{Name: "A b", Value: "c"}}})
}

// Of a large object, parts are stored, under keys of their own.
func TestInspectFindsTheFirstSlice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(strings.Repeat("0123456789abcdef", 4<<10)))
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	i := &inspected{t, start(t, always+"cache: {slice: 16KiB}", edgetest.Options{Origin: server.Listener.Addr().String()}), client}
	i.get("/a", "")
	if in := i.inspect("GET", "/a", ""); in.Object == nil || !in.Part {
		t.Errorf("got %+v, want the first slice", in)
	}
}
