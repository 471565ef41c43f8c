package edge

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/config"
)

// TestEachListenerTrustsItsOwnProxies: two listeners of one process, one of which
// trusts the loopback addresses, and the access log of what they had.
func TestEachListenerTrustsItsOwnProxies(t *testing.T) {
	asked := make(chan http.Header, 1)
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header }))
	defer app.Close()
	log := filepath.Join(t.TempDir(), "access.log")
	c, err := config.Parse("edge.yaml", fmt.Appendf(nil, `
listen:
  - {address: "127.0.0.1:0", trusted_proxies: [127.0.0.0/8]}
  - {address: "127.0.0.1:0"}
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
access_log: {path: %q}
`, app.URL, log))
	if err != nil {
		t.Fatal(err)
	}
	e := started(t, c)

	for i, want := range []struct{ addresses, scheme string }{{"192.0.2.1, 127.0.0.1", "https"}, {"127.0.0.1", "http"}} {
		req, err := http.NewRequest(http.MethodGet, "http://"+e.Addresses()[i]+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", "6.6.6.6, 192.0.2.1")
		req.Header.Set("X-Forwarded-Proto", "https")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		got := <-asked
		if a, s := got.Get("X-Forwarded-For"), got.Get("X-Forwarded-Proto"); a != want.addresses || s != want.scheme {
			t.Errorf("listener %d: the origin got X-Forwarded-For %q, X-Forwarded-Proto %q; want %q, %q", i, a, s, want.addresses, want.scheme)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	e.Stop(t.Context()) // writes the log to its end
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"192.0.2.1", "127.0.0.1"} {
		if !bytes.Contains(text, []byte(`"client":"`+client+`"`)) {
			t.Errorf("the access log has no client %s:\n%s", client, text)
		}
	}
}
