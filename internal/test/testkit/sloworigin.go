package testkit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// SlowOrigin is a server that sends half of its answer, tells by begun, and the rest when asked to go
// on or at the end of the test.
func SlowOrigin(tb testing.TB) (url string, begun chan struct{}, goOn chan struct{}) {
	tb.Helper()
	begun, goOn = make(chan struct{}, 10), make(chan struct{})
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		select {
		case <-goOn:
		case <-over:
		}
		_, _ = io.WriteString(w, "world")
	}))
	tb.Cleanup(s.Close)
	tb.Cleanup(func() { close(over) })
	return s.URL, begun, goOn
}
