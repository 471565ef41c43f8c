package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reloads answers reloads as the command does: one at a time, and a refused file by a list
// of places.
type reloads struct {
	turn    chan struct{}
	entered chan struct{} // receives when one has the turn
	goOn    chan struct{} // closed: no reload waits

	mu      sync.Mutex
	applied int
	broken  bool
}

func newReloads() *reloads {
	r := &reloads{turn: make(chan struct{}, 1), entered: make(chan struct{}, 100), goOn: make(chan struct{})}
	r.turn <- struct{}{}
	return r
}

type answered struct {
	Changed  []string `json:"changed,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

func (r *reloads) reload() (int, any) {
	<-r.turn
	defer func() { r.turn <- struct{}{} }()
	r.entered <- struct{}{}
	<-r.goOn
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return http.StatusUnprocessableEntity, answered{Problems: []string{"/etc/edge.yaml:3:10: limits.ranges: many: must be a number"}}
	}
	r.applied++
	return http.StatusOK, answered{Changed: []string{"limits.ranges: 16 -> 4"}}
}

func (r *reloads) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.applied
}

func reloading(r *reloads) Options {
	o := options()
	o.Reload = r.reload
	return o
}

func TestReloadAnswersWhatWasDoneAndWhyNot(t *testing.T) {
	r := newReloads()
	close(r.goOn)
	g := serve(t, mustNew(t, reloading(r)))
	for _, body := range []string{"", "{}", "limits: {ranges: 4}", strings.Repeat("x", 1<<20)} { // the file counts, no body
		a := g.do("POST", "/reload", body)
		if a.status != http.StatusOK || a.body != "{\n  \"changed\": [\n    \"limits.ranges: 16 -> 4\"\n  ]\n}\n" || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("body of %d: got %d %q %v", len(body), a.status, a.body, a.header)
		}
	}
	r.broken = true
	a := g.do("POST", "/reload", "")
	var got answered
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusUnprocessableEntity || len(got.Problems) != 1 {
		t.Fatalf("a broken file: got %d %q, %v", a.status, a.body, err)
	}
	if want := "/etc/edge.yaml:3:10: "; !strings.HasPrefix(got.Problems[0], want) || a.header.Get("Retry-After") != "" {
		t.Errorf("a broken file: got %q and %v, want %q and no word of trying again", got.Problems[0], a.header, want)
	}
	if r.count() != 4 {
		t.Errorf("got %d applied, want the 4 before", r.count())
	}
}

func TestReloadIsAPost(t *testing.T) {
	r := newReloads()
	close(r.goOn)
	g := serve(t, mustNew(t, reloading(r)))
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		if a := g.do(method, "/reload", ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
			t.Errorf("%s: got %d, Allow %q, want 405 and POST", method, a.status, a.header.Get("Allow"))
		}
	}
	for _, header := range [][]string{{"Host", "evil.example"}, {"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if a := g.do("POST", "/reload", "", header...); a.status != http.StatusForbidden && a.status != http.StatusMisdirectedRequest {
			t.Errorf("%q: got %d, want it refused", header, a.status)
		}
	}
	if r.count() != 0 {
		t.Errorf("got %d reloads, want none", r.count())
	}
	if !strings.Contains(g.do("GET", "/paths", "").body, "/reload") {
		t.Error("the list of paths does not have it")
	}
	if a := serve(t, mustNew(t, options())).do("POST", "/reload", ""); a.status != http.StatusNotFound {
		t.Errorf("without anything to reload: got %d, want 404", a.status)
	}
}

func TestReloadWantsTheToken(t *testing.T) {
	r := newReloads()
	close(r.goOn)
	g := guarded(t, reloading(r))
	for _, header := range [][]string{nil, {"Authorization", "Bearer another"}, {"Authorization", secret}} {
		a := g.do("POST", "/reload", "", header...)
		if why := g.errorText(a); a.status != http.StatusUnauthorized || why == "" || r.count() != 0 {
			t.Errorf("%q: got %d %q and %d reloads, want 401 and none", header, a.status, why, r.count())
		}
	}
	if a := g.do("POST", "/reload", "", "Authorization", "Bearer "+secret); a.status != http.StatusOK || r.count() != 1 {
		t.Errorf("with the token: got %d and %d reloads", a.status, r.count())
	}
}

// TestReloadsAtOnceAreAllAnswered, and other paths answer meanwhile.
func TestReloadsAtOnceAreAllAnswered(t *testing.T) {
	r := newReloads()
	g := serve(t, mustNew(t, reloading(r)))
	const many = 20
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if a := g.do("POST", "/reload", ""); a.status != http.StatusOK {
				t.Errorf("got %d %s", a.status, a.body)
			}
		})
	}
	<-r.entered
	for _, path := range []string{"/livez", "/metrics", "/status"} {
		if a := g.do("GET", path, ""); a.status != http.StatusOK {
			t.Errorf("%s beside a reload: got %d", path, a.status)
		}
	}
	close(r.goOn)
	all.Wait()
	if r.count() != many {
		t.Errorf("got %d reloads, want %d", r.count(), many)
	}
}

// TestReloadOutlivesItsClient: it was asked for.
func TestReloadOutlivesItsClient(t *testing.T) {
	r := newReloads()
	g := serve(t, mustNew(t, reloading(r)))
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.addr+"/reload", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if a, err := g.client.Do(request); err == nil {
			a.Body.Close()
			t.Error("got an answer, want the client gone before")
		}
	}()
	<-r.entered
	leave()
	<-left
	close(r.goOn)
	if a := g.do("POST", "/reload", ""); a.status != http.StatusOK || r.count() != 2 {
		t.Errorf("the next one: got %d, and %d applied, want 2", a.status, r.count())
	}
}

// TestReloadThatIsNotDoneSaysWhenToTryAgain, and one whose answer is no JSON says that.
func TestReloadThatIsNotDoneSaysWhenToTryAgain(t *testing.T) {
	o := options()
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Reload = func() (int, any) {
		return http.StatusServiceUnavailable, answered{Problems: []string{"the proxy is shutting down"}}
	}
	g := serve(t, mustNew(t, o))
	if a := g.do("POST", "/reload", ""); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" {
		t.Errorf("got %d, Retry-After %q, want 503 and 1", a.status, a.header.Get("Retry-After"))
	}
	o.Reload = func() (int, any) { return http.StatusOK, func() {} }
	g = serve(t, mustNew(t, o))
	a := g.do("POST", "/reload", "")
	if why := g.errorText(a); a.status != http.StatusInternalServerError || !strings.Contains(why, "log") || !strings.Contains(log.String(), "cannot be encoded") {
		t.Errorf("got %d %q, log %q", a.status, why, log.String())
	}
}

// deadlines is a client's connection that notes the bounds of the writes to it.
type deadlines struct {
	httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// A reload that took longer than the time for an answer, on a busy machine with thousands of routes, was done and never answered.
func TestReloadsThatTookLongerThanAnAnswerMayHadNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadlines{ResponseRecorder: *httptest.NewRecorder()}
		handler := reloadHandler(func() (int, any) {
			if len(w.set) != 1 || !w.set[0].IsZero() {
				t.Errorf("during the reload: got the bounds %v, want none", w.set)
			}
			time.Sleep(100 * writeTimeout)
			return http.StatusOK, answered{Changed: []string{"limits.ranges: 16 -> 4"}}
		}, slog.New(slog.DiscardHandler))
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/reload", http.NoBody))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "limits.ranges") || len(w.set) != 1 {
			t.Errorf("got %d %q, and the bounds %v, want the answer", w.Code, w.Body, w.set)
		}
	})
}
