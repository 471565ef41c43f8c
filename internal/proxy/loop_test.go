package proxy_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestLoopEndsAtTheFirstEdge: an edge whose origin is an edge whose origin is the
// first one. They have one name, as nodes behind each other may.
func TestLoopEndsAtTheFirstEdge(t *testing.T) {
	address := testkit.FreeAddress(t)
	inner := start(t, "", edgetest.Options{Origin: address})
	outer := start(t, fmt.Sprintf("listen: [{address: %q}]", address), edgetest.Options{Origin: inner.Address})

	for _, method := range []string{"GET", "POST"} {
		a := ask(t, outer, method+" /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
		if via := strings.Join(a.header.Values("Via"), ", "); a.status != 508 || via != "1.1 edgeproxy, 1.1 edgeproxy, 1.1 edgeproxy" {
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
	inner, _ := startBefore(t, "", w.script)
	outer := start(t, "", edgetest.Options{Origin: inner.Address})
	if a := ask(t, outer, asGet("/a")); a.status != 200 {
		t.Errorf("got %d %q %v, want 200", a.status, a.cache, a.err)
	}
	_, head := w.take()
	ids := regexp.MustCompile(`^edgeproxy; id=(\w+), edgeproxy; id=(\w+)$`).FindStringSubmatch(head.Get("CDN-Loop"))
	if ids == nil || ids[1] == ids[2] {
		t.Errorf("CDN-Loop: got %q, want two of one name", head.Get("CDN-Loop"))
	}
}
