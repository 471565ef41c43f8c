package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestSIGTERMUnderLoadAnswersWhatWasAsked stops the program while many requests are
// under way: each gets its whole answer, and the exit code is 0.
func TestSIGTERMUnderLoadAnswersWhatWasAsked(t *testing.T) {
	t.Parallel()
	for run := range drainRuns {
		drainUnderLoad(t, run, drainRequests)
		if t.Failed() {
			return
		}
	}
}

func drainUnderLoad(t *testing.T, run, requests int) {
	t.Helper()
	var here atomic.Int64
	goOn := make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		here.Add(1)
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "world")
	}))
	defer app.Close()
	s := serveBinary(t, "-c", writeFile(t, "drain.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q], max_connections: 2000}}
`, app.URL)))
	var clients sync.WaitGroup
	var whole atomic.Int64
	for n := range requests {
		clients.Go(func() {
			if err := askOnce(s.address, fmt.Sprintf("/%d", n)); err != nil {
				t.Errorf("run %d, request %d: %v", run, n, err)
				return
			}
			whole.Add(1)
		})
	}
	eventually(t, "all requests are at the origin", func() bool { return here.Load() == int64(requests) || t.Failed() })
	s.signal(syscall.SIGTERM)
	eventually(t, "/readyz says 503", func() bool { return s.readyz() == 503 })
	close(goOn)
	clients.Wait()
	s.wantExit(exitDone)
	if got := whole.Load(); got != int64(requests) {
		t.Errorf("run %d: got %d whole answers, want %d", run, got, requests)
	}
}

// askOnce sends one request on a connection of its own and reads the answer.
func askOnce(address, target string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * patience))
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, address); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err == nil && string(body) != "helloworld" {
		err = fmt.Errorf("got %q, want helloworld", body)
	}
	return err
}
