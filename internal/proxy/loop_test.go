package proxy_test

import (
	"net"
	"strings"
	"testing"

	edgetest "edgeproxy/internal/test/oldrig"
)

// TestLoopEndsAtTheFirstEdge: an edge whose origin is an edge whose origin is the
// first one. They have one name, as nodes behind each other may.
func TestLoopEndsAtTheFirstEdge(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second := edgetest.Options{Instance: "second"}
	second.Origin.Address = l.Addr().String()
	inner := start(t, second)
	first := edgetest.Options{Instance: "first", Listener: l}
	first.Origin.Address = inner.Address
	outer := start(t, first)

	for _, method := range []string{"GET", "POST"} {
		a := ask(t, outer, method+" /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
		if via := strings.Join(a.header.Values("Via"), ", "); a.status != 508 || via != "1.1 edge, 1.1 edge, 1.1 edge" {
			t.Errorf("%s: got %d %q, error %v; want 508 by three edges", method, a.status, via, a.err)
		}
	}
	// Requests are counted behind their answers.
	eventually(t, "the first edge has refused two requests", func() bool {
		return outer.Metric(t, "edgeproxy_requests_total", "route=-", "result=error", "status=5xx") == 2
	})
	eventually(t, "the second edge has passed two answers on", func() bool {
		return inner.Metric(t, "edgeproxy_requests_total", "route=default", "result=pass", "status=5xx") == 2
	})
}

// TestEdgesOfOneNameMayStandBehindEachOther: the name alone is no loop.
func TestEdgesOfOneNameMayStandBehindEachOther(t *testing.T) {
	w := &recordingOrigin{}
	inner, _ := startBefore(t, edgetest.Options{Instance: "second"}, w.script)
	first := edgetest.Options{Instance: "first"}
	first.Origin.Address = inner.Address
	outer := start(t, first)
	if a := ask(t, outer, asGet("/a")); a.status != 200 {
		t.Errorf("got %d %q %v, want 200", a.status, a.cache, a.err)
	}
	_, head := w.take()
	if got, want := head.Get("CDN-Loop"), "edge; id=first, edge; id=second"; got != want {
		t.Errorf("CDN-Loop: got %q, want %q", got, want)
	}
}
