package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestOptionsForTheWholeServerIsTheSameByBothVersions: net/http's server answered OPTIONS *
// by itself, which nobody counted or logged, and no route had a say in.
func TestOptionsForTheWholeServerIsTheSameByBothVersions(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	counted := func() (lines []string) {
		for line := range strings.SplitSeq(s.metricsAtRest(), "\n") {
			if strings.HasPrefix(line, "edgeproxy_requests_total{") && !strings.HasSuffix(line, " 0") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	ask := func(two bool) (status int) {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodOptions, "https://www.example.com", http.NoBody)
		r.URL = &url.URL{Scheme: "https", Host: "www.example.com", Opaque: "*"}
		res, err := s.speaks(t, two).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	one := ask(false)
	before := counted()
	if two := ask(true); two != one {
		t.Errorf("got %d by HTTP/2, want %d as by HTTP/1.1", two, one)
	}
	if after := counted(); slices.Equal(before, after) {
		t.Errorf("got %v before and after, want a request more", after)
	}
}
