package main

import (
	"net/http"
	"testing"
)

// TestAnUnknownExpectationFailsByBothVersions: by HTTP/2 it was dropped, and the request
// answered as if nothing had been expected.
func TestAnUnknownExpectationFailsByBothVersions(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	for _, two := range []bool{false, true} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://www.example.com/kept/1", http.NoBody)
		r.Header.Set("Expect", "the-unexpected")
		res, err := s.speaks(t, two).Do(r)
		if err != nil || res.StatusCode != http.StatusExpectationFailed {
			t.Fatalf("two %v: got %v, %v, want 417", two, res, err)
		}
		_ = res.Body.Close()
	}
}
