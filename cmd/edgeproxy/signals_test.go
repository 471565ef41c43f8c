package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// underWay begins a request and returns once half of its body is here.
func underWay(t *testing.T, s *server) (rest io.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(c, "GET /slow HTTP/1.1\r\nHost: %s\r\n\r\n", s.address); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return res.Body
}

// readyz returns the status of /readyz; 0 without an answer.
func (s *server) readyz() int {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := c.Get("http://" + s.admin + "/readyz")
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestDrainWaitsForHTTP10: an answer that ends with the connection has left the
// server's own count, and is under way all the same.
func TestDrainWaitsForHTTP10(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
		w.(http.Flusher).Flush() // no length: chunks
		begun <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, "world")
	}))
	t.Cleanup(app.Close)
	s := serveBinary(t, append([]string{"--origin", app.URL}, anyPorts...)...)
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(c, "GET /slow HTTP/1.0\r\nHost: %s\r\n\r\n", s.address); err != nil {
		t.Fatal(err)
	}
	<-begun
	s.signal(syscall.SIGTERM)
	eventually(t, "/readyz says 503", func() bool { return s.readyz() != 200 })
	close(goOn)
	got, err := io.ReadAll(c)
	if err != nil || !strings.HasSuffix(string(got), "\r\n\r\nhelloworld") {
		t.Errorf("got %q, %v, want the whole answer", got, err)
	}
	s.wantExit(exitDone)
}

// TestFirstSignalDrains: requests under way are served to their end, new ones are not, and
// /readyz says so.
func TestFirstSignalDrains(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			app, begun, goOn := testkit.SlowOrigin(t)
			s := serveBinary(t, append([]string{"--origin", app}, anyPorts...)...)
			rest := underWay(t, s)
			<-begun
			if got := s.readyz(); got != 200 {
				t.Errorf("/readyz before: got %d, want 200", got)
			}
			s.signal(sig)
			eventually(t, "/readyz says 503", func() bool { return s.readyz() == 503 })
			eventually(t, "new clients are refused", func() bool {
				c, err := net.Dial("tcp", s.address)
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			})
			close(goOn)
			if got, err := io.ReadAll(rest); err != nil || string(got) != "world" {
				t.Errorf("request under way: got %q, %v; want its other half", got, err)
			}
			s.wantExit(exitDone)
		})
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	app, begun, _ := testkit.SlowOrigin(t)
	s := serveBinary(t, append([]string{"--origin", app}, anyPorts...)...)
	underWay(t, s)
	<-begun
	s.signal(syscall.SIGTERM)
	eventually(t, "it drains", func() bool { return s.readyz() == 503 })
	s.signal(syscall.SIGTERM)
	s.wantExit(exitFailed)
}

// TestDrainHasALimit: what is not done by then is cut off, and the end is orderly.
func TestDrainHasALimit(t *testing.T) {
	t.Parallel()
	app, begun, _ := testkit.SlowOrigin(t)
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\nshutdown: {drain_timeout: 1s}\n", app)))
	rest := underWay(t, s)
	<-begun
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	if got, err := io.ReadAll(rest); err == nil {
		t.Errorf("the request that was cut off: got %q and no error, want a broken transfer", got)
	}
	if !slices.ContainsFunc(s.lines(), func(l logLine) bool { return l.Message == "requests were cut off" }) {
		t.Errorf("the log does not say so: %v", s.lines())
	}
}

// TestSilentConnectionDoesNotHoldTheDrain: who connects and never says a word cannot
// keep the program from ending in order, well before drain_timeout.
func TestSilentConnectionDoesNotHoldTheDrain(t *testing.T) {
	t.Parallel()
	s := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nshutdown: {drain_timeout: 10m}\n", cachedOrigin(t)))
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get(t, "http://"+s.address+"/a") // the silent one has been accepted before
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone) // before drain_timeout
	if slices.ContainsFunc(s.lines(), func(l logLine) bool { return l.Message == "requests were cut off" }) {
		t.Error("the log tells of requests that were cut off, and there were none")
	}
}

// TestSilentConnectionIsNoRequestThatWasCutOff: with a drain_timeout shorter than silent
// connections are awaited, the log warned of requests that were cut off, and named none.
func TestSilentConnectionIsNoRequestThatWasCutOff(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
shutdown: {drain_timeout: 200ms}
`, cachedOrigin(t))))
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get(t, "http://"+s.address+"/a") // the silent one has been accepted before
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	if !s.logged("INFO", "connections without a complete request were closed") || s.logged("WARN", "requests were cut off") {
		t.Errorf("got %v, want a line about connections, and none about requests", s.lines())
	}
}
