package edge

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/testkit"
)

// patience keeps what hangs from hanging the tests; nothing waits for it to pass.
const patience = testkit.Patience

var (
	eventually = testkit.Eventually
	renameOver = testkit.RenameOver
	writeFile  = testkit.WriteFile
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

// built returns a proxy that is not started. It is stopped at the end of the test.
func built(t testing.TB, c *config.Config, o Options) *Edge {
	t.Helper()
	e, err := New(c, slog.New(slog.DiscardHandler), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Stop(context.Background()) })
	return e
}

// started returns a proxy that serves until the end of the test.
func started(t *testing.T, c *config.Config) *Edge {
	t.Helper()
	e := built(t, c, Options{})
	if err := e.Listen(); err != nil {
		t.Fatal(err)
	}
	e.Start()
	return e
}

// get asks url on a connection of its own, and reads the answer.
func get(t *testing.T, url string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

// certificateFiles writes the certificate of an authority for www.example.com, and its key.
func certificateFiles(t *testing.T) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	testkit.WritePair(t, testkit.NewAuthority(t).Good("www.example.com"), certificate, key)
	return certificate, key
}

// keptOrigin is a server whose answers may be stored for a minute.
func keptOrigin(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "kkk")
	}))
	t.Cleanup(s.Close)
	return s.URL
}
