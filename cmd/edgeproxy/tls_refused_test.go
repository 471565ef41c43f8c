package main

import (
	"strings"
	"testing"
)

// TestWhatTheBridgeRefusesIsCounted: it was in no metric and no log.
func TestWhatTheBridgeRefusesIsCounted(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	c := s.raw(t)
	_, _ = c.Write(frame(1, 4|1, 1, fields(":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/a b")))
	if got := answered(c); got != 400 {
		t.Errorf("got %d, want 400", got)
	}
	const want = `edgeproxy_requests_total{result="error",route="-",status="4xx"} 1`
	if metrics := s.metricsAtRest(); !strings.Contains(metrics, want+"\n") {
		t.Errorf("want %s", want)
	}
}
