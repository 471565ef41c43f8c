package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestASlowUploadOfEitherVersionIsEnded: one over TLS, and one of HTTP/2, like any other.
func TestASlowUploadOfEitherVersionIsEnded(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "limits: {receive_rate: {bytes: 1KiB, over: 500ms}}")
	for version, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		body, w := io.Pipe()
		go func() { _, _ = w.Write([]byte("x")) }()
		res, err := s.speaks(t, two).Post("https://"+s.address+"/u", "text/plain", body)
		_ = w.Close()
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: got %d, want 408", version, res.StatusCode)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the origin got %d requests, want none", n)
	}
}
