package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestHeadsAboutAsLongAsTheLimitAreAnswered: a head that HTTP/2 takes can be longer than
// header_bytes when it is written as HTTP/1.1. Such a request was never answered, and held
// its place until the client gave it up.
func TestHeadsAboutAsLongAsTheLimitAreAnswered(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "limits: {header_bytes: 12200B}")
	c := s.speaks(t, true)
	refused := 0
	for size := 12000; size < 12230; size += 10 {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://www.example.com/kept/1", http.NoBody)
		r.Header.Set("User-Agent", "") // HTTP/2 counts 32 bytes more for each field
		r.Header.Set("A", strings.Repeat("a", size))
		res, err := c.Do(r)
		if err != nil {
			t.Fatalf("field of %d bytes: %v", size, err)
		}
		if res.StatusCode == http.StatusRequestHeaderFieldsTooLarge {
			refused++
		}
		_ = res.Body.Close()
	}
	if refused == 0 {
		t.Error("no head was too long for header_bytes")
	}
	s.metricsAtRest()
}
