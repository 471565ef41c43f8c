package edgetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestStartRunsTheProduct: with the shipped defaults, and with what the YAML says in their place.
func TestStartRunsTheProduct(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "hello")
	}))
	defer origin.Close()
	e := Start(t, "", Options{Origin: strings.TrimPrefix(origin.URL, "http://")})
	ask := func(want string) {
		t.Helper()
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(httptest.NewRequest(http.MethodGet, "http://"+e.Address+"/a", nil))
		must(t, err)
		_, _ = io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := res.Header.Get("Cache-Status"); !strings.HasPrefix(got, Node+"; "+want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	ask("fwd=uri-miss; detail=first-sighting")
	ask("hit") // from the stage
	if r, err := e.Reload("admission: {policy: never}"); err != nil || len(r.Changed) != 1 || len(r.Restart) != 0 {
		t.Errorf("got %+v, %v, want one change", r, err)
	}
	if onDisk := os.Getenv("EDGEPROXY_TEST_DISK") == "1"; onDisk {
		must(t, e.Disk().Flush())
		if n := e.Metric(t, "edgeproxy_cache_objects", "tier=disk"); n != 1 {
			t.Errorf("got %v objects on the disk, want 1", n)
		}
		return
	}
	if n := e.Metric(t, "edgeproxy_cache_objects", "tier=memory"); n != 1 {
		t.Errorf("got %v objects, want 1", n)
	}
}
