package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
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
	ended   []error // the contexts, as they were at the end
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

func (r *reloads) reload(ctx context.Context) (int, any) {
	select {
	case <-r.turn:
	case <-ctx.Done():
		return http.StatusServiceUnavailable, answered{Problems: []string{"busy"}}
	}
	defer func() { r.turn <- struct{}{} }()
	r.entered <- struct{}{}
	<-r.goOn
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, ctx.Err())
	if r.broken {
		return http.StatusUnprocessableEntity, answered{Problems: []string{"/etc/edge.yaml:3:10: limits.ranges: many: want a number"}}
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
	for _, err := range r.ended {
		if err != nil {
			t.Errorf("got a reload that was told to stop: %v", err)
		}
	}
}

// TestReloadThatIsBusySaysWhenToTryAgain, and one whose answer is no JSON says that.
func TestReloadThatIsBusySaysWhenToTryAgain(t *testing.T) {
	o := options()
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	var deadline time.Duration
	o.Reload = func(ctx context.Context) (int, any) {
		at, _ := ctx.Deadline()
		deadline = time.Until(at)
		return http.StatusServiceUnavailable, answered{Problems: []string{"another reload is under way"}}
	}
	g := serve(t, mustNew(t, o))
	if a := g.do("POST", "/reload", ""); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" {
		t.Errorf("got %d, Retry-After %q, want 503 and 1", a.status, a.header.Get("Retry-After"))
	}
	if deadline <= 0 || deadline >= writeTimeout {
		t.Errorf("got %v to wait, want less than the %v there are for the answer", deadline, writeTimeout)
	}
	o.Reload = func(context.Context) (int, any) { return http.StatusOK, func() {} }
	g = serve(t, mustNew(t, o))
	a := g.do("POST", "/reload", "")
	if why := g.errorText(a); a.status != http.StatusInternalServerError || !strings.Contains(why, "log") || !strings.Contains(log.String(), "cannot be encoded") {
		t.Errorf("got %d %q, log %q", a.status, why, log.String())
	}
}
