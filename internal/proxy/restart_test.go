package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/test/edgetest"
)

// restartRig is an edge with a disk that is started again and again on the same folder, before one origin.
type restartRig struct {
	version atomic.Int64
	waiting chan struct{} // has a token once /slow was asked for
	release chan struct{}
	dir     string // the folder of the edge, with the disk
	cache   string // what the cache has beside the disk, in YAML
	sliced  bool
	options edgetest.Options
	tier    keepAllTier
}

// newRestartRig has an origin whose answers say the version, by validators that change with it.
func newRestartRig(t *testing.T) *restartRig {
	t.Helper()
	r := &restartRig{waiting: make(chan struct{}, 1), release: make(chan struct{}), dir: t.TempDir(), sliced: true}
	r.version.Store(1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		v, h := r.version.Load(), w.Header()
		h.Set("Cache-Control", "max-age=3600")
		h.Set("Etag", fmt.Sprintf("%q", fmt.Sprint(v)))
		if q.Method == http.MethodPost {
			h.Set("Location", q.URL.Path+"/made")
			h.Set("Content-Location", q.URL.Path+"/as")
		}
		switch path := q.URL.Path; {
		case strings.HasPrefix(path, "/tagged"):
			h.Set("Surrogate-Key", "all "+path[1:])
		case strings.HasPrefix(path, "/vary"):
			h.Set("Vary", "Accept-Language")
		case strings.HasPrefix(path, "/search"):
			h.Set("No-Vary-Search", `params=("x")`)
		case path == "/slow" && q.Method == http.MethodGet:
			select {
			case r.waiting <- struct{}{}: // the first of the fetches
			default:
			}
			<-r.release
		}
		body := fmt.Sprintf("%04d %s %s\n", v, q.URL, q.Header.Get("Accept-Language"))
		if strings.HasPrefix(q.URL.Path, "/sliced") {
			body += strings.Repeat("-", 5000)
		}
		http.ServeContent(w, q, "", time.Time{}, strings.NewReader(body))
	}))
	t.Cleanup(server.Close)
	r.options = edgetest.Options{Origin: server.Listener.Addr().String(), Adjust: func(c *config.Config) {
		if r.sliced {
			c.Routes[0].Cache.SliceBytes = 1024
		}
	}}
	return r
}

// start starts an edge with all that the one before has left in the folder.
func (r *restartRig) start(t *testing.T) *edgetest.Edge {
	t.Helper()
	return startIn(t, r.dir, always+`cache: {no_vary_search: true, disk: {path: "{dir}/disk", max_bytes: 64MiB, min_free: 0%}, `+r.cache+"}\n", r.options)
}

// diskPath is the folder of the disk.
func (r *restartRig) diskPath() string { return filepath.Join(r.dir, "disk") }

// purgesPath is the folder with the purges, and journal the file in it.
func (r *restartRig) purgesPath() string { return filepath.Join(r.diskPath(), "purges") }

func (r *restartRig) journal() string { return filepath.Join(r.purgesPath(), "purges") }

// move has the next edge start with what a kill at this moment leaves on the disk.
func (r *restartRig) move(t *testing.T) {
	t.Helper()
	from := r.diskPath()
	r.dir = t.TempDir()
	if err := os.CopyFS(r.diskPath(), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// keepPurges is move without what is stored: that is what a tier of the test brings.
func (r *restartRig) keepPurges(t *testing.T) {
	t.Helper()
	r.move(t)
	for _, name := range []string{"*.seg", "removed.*"} {
		files, err := filepath.Glob(filepath.Join(r.diskPath(), name))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// askEdge asks e for a target, in a language if one follows it behind a blank, and returns the version that
// the answer is of, and what the cache says of it.
func askEdge(t *testing.T, e *edgetest.Edge, host, target string) (version int64, status string) {
	t.Helper()
	target, language, _ := strings.Cut(target, " ")
	req, err := http.NewRequest(http.MethodGet, "http://"+e.Address+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Close = host, true // so that the edge need not wait for us at its end
	if language != "" {
		req.Header.Set("Accept-Language", language)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(body), "%04d", &version); err != nil {
		t.Fatalf("%s: got %.40q: %v", target, body, err)
	}
	return version, res.Header.Get("Cache-Status")
}

const restartHost, purgedHost = "a.example.com", "b.example.com"

// restartTargets are asked for of restartHost and purgedHost, by what becomes of them. What is stored
// by a rule for queries is lost with the rule.
func restartTargets() map[string][]string {
	return map[string][]string{
		"kept": {"/kept", "/vary-kept en", "/vary-kept de", "/tagged-kept", "/sliced-kept", "/dir-kept/1"},
		"gone": {"/gone", "/vary-gone en", "/vary-gone de", "/tagged-gone", "/tagged-gone-too", "/sliced-gone", "/search-gone?a=1", "/search-lost?a=1", "/dir/1", "/dir/2"},
		"soft": {"/soft", "/vary-soft en", "/tagged-soft", "/soft-dir/1"},
	}
}

// purgeSome purges what the targets say, and all of purgedHost.
func purgeSome(t *testing.T, e *edgetest.Edge) {
	t.Helper()
	url := func(targets ...string) (urls []string) {
		for _, target := range targets {
			urls = append(urls, "http://"+restartHost+target)
		}
		return urls
	}
	for _, p := range []struct {
		by     string
		values []string
		soft   bool
	}{
		{by: "url", values: url("/gone", "/vary-gone", "/sliced-gone", "/search-gone?a=1", "/slow")},
		{by: "prefix", values: url("/dir/")},
		{by: "tag", values: []string{"tagged-gone", "tagged-gone-too"}},
		{by: "host", values: []string{purgedHost}},
		{by: "url", values: url("/soft", "/vary-soft"), soft: true},
		{by: "prefix", values: url("/soft-dir/"), soft: true},
		{by: "tag", values: []string{"tagged-soft"}, soft: true},
	} {
		if _, _, err := e.Proxy.Purge(p.by, p.values, p.soft); err != nil {
			t.Fatalf("purge %s %q: %v", p.by, p.values, err)
		}
	}
}

// store stores all targets of both hosts as version 1, on the disk and in memory.
func (r *restartRig) store(t *testing.T, e *edgetest.Edge) {
	t.Helper()
	for _, targets := range restartTargets() {
		for _, target := range targets {
			for _, host := range []string{restartHost, purgedHost} {
				askEdge(t, e, host, target)
				askEdge(t, e, host, target) // one hit is not copied to memory, and two are
				if v, status := askEdge(t, e, host, target); v != 1 || !strings.Contains(status, "; hit") {
					t.Fatalf("%s%s: got version %d, %s, want a hit: nothing else says anything of a restart", host, target, v, status)
				}
			}
		}
	}
}

// check asks for all targets after a restart. The origin has gone on to another version: what
// comes from the store is of version 1.
func (r *restartRig) check(t *testing.T, e *edgetest.Edge) {
	t.Helper()
	now := r.version.Add(1)
	f := func(host, target, want string) {
		t.Helper()
		v, status := askEdge(t, e, host, target)
		ok := v == now && strings.Contains(status, "fwd=") && strings.Contains(status, "miss")
		switch want {
		case "kept":
			ok = v == 1 && strings.Contains(status, "; hit")
		case "soft":
			ok = v == now && strings.Contains(status, "fwd=stale")
		}
		if !ok {
			t.Errorf("%s: %s%s: got version %d of %d, %s", want, host, target, v, now, status)
		}
	}
	for want, targets := range restartTargets() {
		for _, target := range targets {
			f(restartHost, target, want)
			f(purgedHost, target, "gone")
		}
	}
}

// TestNothingPurgedComesBackByARestart: a tier keeps every response, purged or not. Nothing that was
// purged before a restart is served after it, what was purged softly is stale, and all else is a
// hit; also after the next restart, by a kill or in order.
func TestNothingPurgedComesBackByARestart(t *testing.T) {
	f := func(name string, kill, sliced bool) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.sliced = sliced
			run := func(test func(t *testing.T, e *edgetest.Edge)) {
				on := t // the edge goes on to the end, and the next starts with what it has left so far
				if !kill {
					t.Run("run", func(t *testing.T) { // and is stopped here
						on = t
						test(on, r.start(on))
					})
				} else {
					test(on, r.start(on))
				}
				r.keepPurges(t)
			}
			run(func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.store(t, e)
				r.tier.see(t, e)
				slow := make(chan int64)
				go func() {
					v, _ := askEdge(t, e, restartHost, "/slow")
					slow <- v
				}()
				<-r.waiting
				purgeSome(t, e)
				close(r.release)
				<-slow
				r.tier.see(t, e)
			})
			first := len(r.tier.entries)
			for range 2 {
				run(func(t *testing.T, e *edgetest.Edge) {
					t.Helper()
					if !r.tier.restore(t, e) {
						t.Fatal("got another identity, want one that knows the purges")
					}
					r.version.Add(1)
					if v, status := askEdge(t, e, restartHost, "/slow"); v == 1 {
						t.Errorf("a fetch that was under way: got version %d, %s", v, status)
					}
					r.check(t, e)
					askEdge(t, e, restartHost, "/gone")
					askEdge(t, e, restartHost, "/gone") // has it copied to memory
					serials := len(r.tier.seen)
					fresh := keepAllTier{}
					fresh.see(t, e)
					for serial := range fresh.seen {
						if serial > e.Proxy.Purges.Identity().First() && r.tier.seen[serial] {
							t.Errorf("serial %x was an earlier run's", serial)
						}
						r.tier.seen[serial] = true
					}
					if len(r.tier.seen) == serials {
						t.Error("nothing was stored with a serial of its own: this proves nothing")
					}
					r.tier.identity = fresh.identity
				})
			}
			if got := len(r.tier.entries); got != first {
				t.Errorf("got %d entries, want the %d of the first run throughout", got, first)
			}
		})
	}

	f("in order", false, false)
	f("killed", true, false)
	f("in order, with slices", false, true)
	f("killed, with slices", true, true)
}

// Everything, purged hard, and softly on top, stays gone.
func TestAPurgeOfAllOutlivesTheProcess(t *testing.T) {
	r := newRestartRig(t)
	e := r.start(t)
	r.store(t, e)
	r.tier.see(t, e)
	for _, soft := range []bool{false, true} {
		if _, _, err := e.Proxy.Purge("all", nil, soft); err != nil {
			t.Fatal(err)
		}
	}
	r.keepPurges(t)
	e = r.start(t)
	if !r.tier.restore(t, e) {
		t.Fatal("got another identity, want one that knows the purges")
	}
	r.version.Add(1)
	for _, targets := range restartTargets() {
		for _, target := range targets {
			if v, status := askEdge(t, e, restartHost, target); v != 2 {
				t.Errorf("%s: got version %d, %s, want 2", target, v, status)
			}
		}
	}
}

// A tier whose purges are lost or damaged may use nothing.
func TestATierWithoutItsPurgesIsNotUsed(t *testing.T) {
	f := func(name string, harm func(path string) error) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			e := r.start(t)
			r.store(t, e)
			purgeSome(t, e)
			r.tier.see(t, e)
			r.keepPurges(t)
			if err := harm(r.journal()); err != nil {
				t.Fatal(err)
			}
			e = r.start(t)
			if r.tier.restore(t, e) {
				t.Error("the tier was let in")
			}
			r.version.Add(1)
			if v, status := askEdge(t, e, restartHost, "/kept"); v != 2 {
				t.Errorf("got version %d, %s, want 2", v, status)
			}
		})
	}

	f("lost", os.Remove)
	f("damaged", func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o600)
	})
}

// A rule for queries that is learned after a restart has another number than the one of what is
// stored: else a purge that came while no rule was known would miss it.
func TestAPurgeBeforeItsRuleIsKnownAgain(t *testing.T) {
	r := newRestartRig(t)
	r.sliced = false // a route with slices learns no rules
	e := r.start(t)
	for range 3 { // has it copied to memory
		askEdge(t, e, restartHost, "/search?a=1")
	}
	if v, status := askEdge(t, e, restartHost, "/search?a=1&x=2"); !strings.Contains(status, "; hit") {
		t.Fatalf("got version %d, %s, want a hit by the rule", v, status)
	}
	r.tier.see(t, e)
	r.keepPurges(t)
	e = r.start(t)
	if !r.tier.restore(t, e) {
		t.Fatal("got another identity, want one that knows the purges")
	}
	if _, _, err := e.Proxy.Purge("url", []string{"http://" + restartHost + "/search?a=1"}, false); err != nil {
		t.Fatal(err)
	}
	r.version.Add(1)
	askEdge(t, e, restartHost, "/search?a=2") // teaches the rule
	if v, status := askEdge(t, e, restartHost, "/search?a=1&x=3"); v != 2 {
		t.Errorf("got version %d, %s, want 2: the other was purged", v, status)
	}
}

// An unsafe request changes what is stored. Where that may come back by a restart, it leaves
// a mark.
func TestAnInvalidationOutlivesTheProcess(t *testing.T) {
	r := newRestartRig(t)
	r.sliced = false // with slices there is a mark anyhow
	e := r.start(t)
	for range 3 { // has it copied to memory
		askEdge(t, e, restartHost, "/kept")
	}
	r.tier.see(t, e)
	req, err := http.NewRequest(http.MethodPost, "http://"+e.Address+"/kept", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Close = restartHost, true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	r.keepPurges(t)
	e = r.start(t)
	if !r.tier.restore(t, e) {
		t.Fatal("got another identity, want one that knows the purges")
	}
	r.version.Add(1)
	if v, status := askEdge(t, e, restartHost, "/kept"); v != 2 {
		t.Errorf("got version %d, %s, want 2: the other was invalidated", v, status)
	}
}
