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

	"edgeproxy/internal/test/edgetest"
)

// askPurge sends one request for edge.test with these fields, each a name and a value.
func askPurge(t *testing.T, client *http.Client, method, url string, content io.Reader, fields ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "edge.test"
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// TestWhatAPurgeHasBehindItsHeadWasIgnored: content may say what to purge, as it does for APIs of CDNs. So a purge with content is not
// understood, whether it is announced, in chunks, or only after 100 (Continue).
func TestWhatAPurgeHasBehindItsHeadWasIgnored(t *testing.T) {
	e := start(t, always+"purge: {allow: [127.0.0.0/8]}", hitOrigin(t))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	url := "http://" + e.Address + "/1"
	hit := func(want bool) {
		t.Helper()
		res, _ := askPurge(t, client, http.MethodGet, url, http.NoBody)
		if got := strings.HasPrefix(res.Header.Get("Cache-Status"), "edgeproxy; hit"); got != want {
			t.Errorf("got Cache-Status %q, want a hit: %v", res.Header.Get("Cache-Status"), want)
		}
	}
	hit(false)
	for _, content := range []func() io.Reader{
		func() io.Reader { return strings.NewReader(`{"surrogate_keys": ["a"]}`) },
		func() io.Reader { return io.MultiReader(strings.NewReader("in chunks")) },
	} {
		for _, fields := range [][]string{nil, {"Expect", "100-continue"}} {
			res, text := askPurge(t, client, "PURGE", url, content(), fields...)
			if res.StatusCode != http.StatusBadRequest || !strings.Contains(text, "nothing is purged: content: ") {
				t.Errorf("%v: got %d and %q, want 400 for the content", fields, res.StatusCode, text)
			}
			hit(true)
		}
	}
	if res, _ := askPurge(t, client, "PURGE", url, http.NoBody); res.StatusCode != http.StatusOK {
		t.Errorf("without content: got %d, want 200", res.StatusCode)
	}
	hit(false)
}

// A purge is not forwarded, whether its token is right, wrong or malformed: the origin would learn the token.
func TestTheTokenOfPurgesWasForwarded(t *testing.T) {
	const token = "sesame-of-the-test"
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, fmt.Sprintf("%spurge: {token_file: %q}", always, file), edgetest.Options{Origin: server.Listener.Addr().String()})
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	for _, authorization := range []string{"Bearer " + token, "Bearer other", token} {
		for _, method := range []string{"PURGE", "BAN", "PURGEKEYS", "SOFTPURGE"} {
			_, _ = askPurge(t, client, method, "http://"+e.Address+"/a", http.NoBody, "Authorization", authorization)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the origin was asked %d times, want never", n)
	}
}
