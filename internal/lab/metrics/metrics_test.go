package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestReadAndSum(t *testing.T) {
	const text = `# HELP a_total All "a".
# TYPE a_total counter
a_total{route="default",result="hit"} 3
a_total{route="o\"d\\d\n, }x", result="miss",} 4.5e2 1700000000000

b 7
c{} +Inf
  d{x="1"}	-0.25
`
	e, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	f := func(want float64, found bool, name string, labels ...string) {
		t.Helper()
		if got, ok := e.Sum(name, labels...); got != want || ok != found {
			t.Errorf("%s%v: got %v, %v; want %v, %v", name, labels, got, ok, want, found)
		}
	}
	f(453, true, "a_total")
	f(3, true, "a_total", "result", "hit")
	f(450, true, "a_total", "route", "o\"d\\d\n, }x", "result", "miss")
	f(0, false, "a_total", "route", "default", "result", "miss")
	f(7, true, "b")
	f(-0.25, true, "d", "x", "1")
	f(0, false, "e")
	if c, ok := e.Sum("c"); !ok || c < 1e300 {
		t.Errorf("c: got %v, want +Inf", c)
	}
}

func TestBrokenExpositionIsAnError(t *testing.T) {
	for _, text := range []string{"a\n", "a{\n", `a{x="1`, `a{x=1} 2` + "\n", "a x\n", "a 1 2 3\n", `a{x="1"}` + "\n", "a 1"} {
		if got, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestGetSaysWhatWentWrong(t *testing.T) {
	status, text := http.StatusOK, "a 1\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			t.Errorf("got a request for %s", r.URL)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	e, err := Get(t.Context(), address)
	if n, ok := e.Sum("a"); err != nil || n != 1 || !ok {
		t.Errorf("got %v, %v and %v, want 1", n, ok, err)
	}
	text = "a\n"
	if _, err := Get(t.Context(), address); err == nil || !strings.Contains(err.Error(), "scrape /metrics: read metrics: ") {
		t.Errorf("a broken text: got %v", err)
	}
	status = http.StatusNotFound
	if _, err := Get(t.Context(), address); err == nil || !strings.Contains(err.Error(), "scrape /metrics: status 404") {
		t.Errorf("no metrics: got %v", err)
	}
	s.Close()
	if _, err := Get(t.Context(), address); err == nil || !strings.Contains(err.Error(), "scrape: ") {
		t.Errorf("no server: got %v", err)
	}
}
