package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// withTracing is a file of one origin, with this section tracing.
func withTracing(app, log, tracing string) string {
	return fmt.Sprintf("origins: {app: {servers: [%q]}}\naccess_log: {path: %q, format: template, template: '{target} {trace_id}'}\n%s\n", app, log, tracing)
}

// Spans reach a receiver while the file names one, with the fields that it names, whose values are shown
// nowhere. The access log has the trace too.
func TestSpansReachTheReceiverThatTheFileNames(t *testing.T) {
	t.Parallel()
	receiver, log := testkit.NewSpanReceiver(t), filepath.Join(t.TempDir(), "access.log")
	at := httptest.NewServer(receiver)
	defer at.Close()
	app := cachedOrigin(t)
	c := serveFile(t, withTracing(app, log, ""))
	url := "http://" + c.address
	get(t, url+"/off")
	c.write(withTracing(app, log, fmt.Sprintf("tracing: {endpoint: %q, headers: {X-Team: of-a-secret}, sample: 1, most_per_second: 1000, service_name: shop}", at.URL)))
	if got := c.reload(); got.code != exitDone || strings.Contains(got.stdout+got.stderr, "of-a-secret") {
		t.Fatalf("got %+v", got)
	}
	get(t, url+"/on")
	var list []testkit.Span
	eventually(t, "the span of the request has come", func() bool { // it ends last, and may come in another request than its children
		list = receiver.Spans()
		return slices.ContainsFunc(list, func(s testkit.Span) bool { return s.Kind == "SERVER" })
	})
	byKind := map[string]testkit.Span{}
	for _, s := range list {
		byKind[s.Kind] = s
	}
	server := byKind["SERVER"]
	if server.Attributes["url.path"] != "/on" || server.Resource["service.name"] != "shop" || server.Resource["service.instance.id"] != "edgeproxy" {
		t.Errorf("got %+v", server)
	}
	if got := receiver.Headers()[0].Get("X-Team"); got != "of-a-secret" {
		t.Errorf("the receiver was sent %q", got)
	}
	eventually(t, "all spans were taken", func() bool { return c.metric("edgeproxy_tracing_spans_total") == int64(len(receiver.Spans())) })
	c.write(withTracing(app, log, ""))
	if got := c.reload(); got.code != exitDone {
		t.Fatalf("got %+v", got)
	}
	get(t, url+"/again")
	c.signal(syscall.SIGTERM)
	c.wantExit(exitDone)
	for _, s := range receiver.Spans() {
		if s.Kind == "SERVER" && s.Attributes["url.path"] != "/on" {
			t.Errorf("got %+v", s)
		}
	}
	want := []string{"/again -", "/off -", "/on " + server.Trace}
	if got := logOf(t, log); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("log: got %q, want %q", got, want)
	}
	for _, l := range c.lines() {
		if strings.Contains(fmt.Sprint(l), "of-a-secret") {
			t.Errorf("the log: %+v", l)
		}
	}
}

// What is queued when the process ends is sent, without a wait for more.
func TestTheEndSendsTheSpansThatWait(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewSpanReceiver(t)
	at := httptest.NewServer(receiver)
	defer at.Close()
	c := serveFile(t, withTracing(cachedOrigin(t), "-", fmt.Sprintf("tracing: {endpoint: %q, sample: 1, most_per_second: 1000}", at.URL)))
	const asked = 5
	for i := range asked {
		get(t, fmt.Sprintf("http://%s/%d", c.address, i))
	}
	c.signal(syscall.SIGTERM)
	c.wantExit(exitDone)
	servers := 0
	for _, s := range receiver.Spans() {
		if s.Kind == "SERVER" {
			servers++
		}
	}
	if servers != asked {
		t.Errorf("got %d spans of requests, want %d", servers, asked)
	}
}

// A receiver that takes connections and says nothing holds neither clients nor the end.
func TestReceiverThatHangsHoldsNobody(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := serveFile(t, withTracing(cachedOrigin(t), "-", fmt.Sprintf("tracing: {endpoint: \"http://%s\", sample: 1, most_per_second: 10000}", l.Addr())))
	for i := range 50 {
		if resp, _ := get(t, fmt.Sprintf("http://%s/%d", c.address, i)); resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d", resp.StatusCode)
		}
	}
	begun := time.Now()
	c.signal(syscall.SIGTERM)
	c.wantExit(exitDone)
	t.Logf("the end took %v", time.Since(begun))
}
