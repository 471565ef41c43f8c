package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// open opens a made-up suite of these groups.
func open(t *testing.T, groups string) *suite {
	t.Helper()
	needNode(t)
	s, err := openSuite(t.Context(), "../..", fakeSuite(t, groups), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCatalogueHasWhatAProxyIsTestedFor(t *testing.T) {
	needNode(t)
	dir := fakeSuite(t, `{id: 'g', tests: [{id: 'a'}, {id: 'b', kind: 'check', depends_on: ['a']}, {id: 'c', browser_only: true}]}`)
	write(t, dir, map[string]string{"tests/surrogate-control.mjs": `export default {id: 's', tests: [{id: 'd', kind: 'optimal'}]}`})
	s, err := openSuite(t.Context(), "../..", dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := catalogue{Edition: "npm", Version: "9", Tests: []test{
		{ID: "a", Group: "g", Kind: required, DependsOn: []string{}},
		{ID: "b", Group: "g", Kind: check, DependsOn: []string{"a"}},
		{ID: "d", Group: "s", Kind: optimal, DependsOn: []string{}},
	}}
	if diff := cmp.Diff(want, s.catalogue); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFolderWithoutASuiteIsAnError(t *testing.T) {
	needNode(t)
	if _, err := openSuite(t.Context(), "../..", t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), "package.json") {
		t.Errorf("got %v, want an error that says what is missing", err)
	}
}

// recorder is a proxy that answers everything with true and keeps what it was asked.
func recorder(t *testing.T) (base string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var said []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		line := r.Method + " " + r.URL.RequestURI()
		if r.Header.Get("Conformance-Warm") != "" {
			line += " warm"
		}
		said = append(said, line)
		_, _ = io.WriteString(w, "true")
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(said)
	}
}

func TestWarmUpAsksForEveryURLBeforeTheTest(t *testing.T) {
	s := open(t, `{id: 'g', tests: [{id: 'a', requests: [{}, {query_arg: 'x=1'}, {}]}, {id: 'b', requests: [{filename: 'f'}]}]}`)
	f := func(warm int, want ...string) {
		t.Helper()
		base, asked := recorder(t)
		answers, err := s.run(t.Context(), request{Base: base, IDs: []string{"a", "b"}, Warm: warm, Parallel: 1, Seconds: 60})
		if err != nil {
			t.Fatal(err)
		}
		if !answers["a"].held || !answers["b"].held {
			t.Errorf("warm %d: got %v, want what the proxy answered", warm, answers)
		}
		if diff := cmp.Diff(want, asked()); diff != "" {
			t.Errorf("warm %d (-want +got):\n%s", warm, diff)
		}
	}

	f(0, "PUT /config/a", "GET /test/a", "GET /test/a?x=1", "GET /test/a", "PUT /config/b", "GET /test/b")
	f(2,
		"GET /test/a warm", "GET /test/a warm", "GET /test/a?x=1 warm", "GET /test/a?x=1 warm",
		"PUT /config/a", "GET /test/a", "GET /test/a?x=1", "GET /test/a",
		"GET /test/b/f warm", "GET /test/b/f warm", "PUT /config/b", "GET /test/b")
}

func TestOnlyChosenTestsArePlayed(t *testing.T) {
	s := open(t, `{id: 'g', tests: [{id: 'a', requests: [{}]}, {id: 'b', hangs: true, requests: [{}]}]}`)
	base, _ := recorder(t)
	answers, err := s.run(t.Context(), request{Base: base, IDs: []string{"a"}, Parallel: 1, Seconds: 60})
	if err != nil || len(answers) != 1 || !answers["a"].held {
		t.Errorf("got %v, %v, want an answer of a alone", answers, err)
	}
}

func TestASuiteThatHangsIsStopped(t *testing.T) {
	s := open(t, `{id: 'g', tests: [{id: 'a', requests: [{}]}, {id: 'b', hangs: true}]}`)
	base, _ := recorder(t)
	_, err := s.run(t.Context(), request{Base: base, IDs: []string{"a", "b"}, Parallel: 1, Seconds: 1})
	if want := "of 2 tests were done within 1s"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAnInterruptedSuiteIsAnError(t *testing.T) {
	s := open(t, `{id: 'g', tests: [{id: 'a', hangs: true}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.run(ctx, request{IDs: []string{"a"}, Parallel: 1, Seconds: 60}); err == nil {
		t.Error("got no error")
	}
}

// TestTheSuitesChatterIsShownOnRequest: it must never mix with the answers.
func TestTheSuitesChatterIsShownOnRequest(t *testing.T) {
	s := open(t, `{id: 'g', tests: [{id: 'a', requests: [{}]}, {id: 'b', requests: [{}]}]}`)
	base, _ := recorder(t)
	f := func(trace ...string) {
		t.Helper()
		var stderr bytes.Buffer
		s.stderr = &stderr
		if _, err := s.run(t.Context(), request{Base: base, IDs: []string{"a", "b"}, Parallel: 1, Seconds: 60, Trace: trace}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(stderr.String(), "the suite talks"); got != (trace != nil) {
			t.Errorf("trace %v: got %q", trace, stderr.String())
		}
		for _, id := range []string{"a", "b"} {
			if got := strings.Contains(stderr.String(), "dump "+id); got != slices.Contains(trace, id) {
				t.Errorf("trace %v: %s: got %q", trace, id, stderr.String())
			}
		}
	}

	f()
	f("a")
}

// TestRepositoryEditionWantsUndici: without it single tests would fail for no fault of the proxy.
func TestRepositoryEditionWantsUndici(t *testing.T) {
	needNode(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"package.json":                  `{"version": "9"}`,
		"tests/index.mjs":               `export default [{id: 'g', tests: [{id: 'a'}]}]`,
		"test-engine/client/runner.mjs": `export const runTests = async () => {}; export const getResults = () => ({ a: true })`,
	})
	s, err := openSuite(t.Context(), "../..", dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if s.Edition != "repository" {
		t.Errorf("edition: got %q, want repository", s.Edition)
	}
	q := request{Base: "http://127.0.0.1:1", IDs: []string{"a"}, Parallel: 1, Seconds: 60}
	if _, err := s.run(t.Context(), q); err == nil || !strings.Contains(err.Error(), "needs undici") {
		t.Errorf("without undici: got %v, want an error that names it", err)
	}
	write(t, dir, map[string]string{"node_modules/undici/index.js": ""})
	if answers, err := s.run(t.Context(), q); err != nil || !answers["a"].held {
		t.Errorf("with undici: got %v, %v", answers, err)
	}
}

func TestOriginAnswersTheWarmUpItself(t *testing.T) {
	s := open(t, `{id: 'g', tests: []}`)
	origin, err := s.startOrigin(t.Context(), t.TempDir()+"/log")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, warm string) (status int, cacheControl, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+origin.Address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if warm != "" {
			req.Header.Set("Conformance-Warm", warm)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Cache-Control"), string(text)
	}

	// A warm-up that reached the suite's handler would be the test's first request there.
	if status, cc, body := ask("/test/second-time", "1"); status != 200 || cc != "max-age=60" || body != "warm" {
		t.Errorf("warm-up: got %d %q %q, want 200, something to store, warm", status, cc, body)
	}
	if _, cc, body := ask("/test/second-time", ""); cc != "" || !strings.Contains(body, "Assertion") {
		t.Errorf("test: got %q %q, want the handler's first answer", cc, body)
	}
	if status, _, _ := ask("/package.json", ""); status != 404 {
		t.Errorf("a file: got %d, want 404", status)
	}
	if err := origin.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
