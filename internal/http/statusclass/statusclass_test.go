package statusclass

import (
	"maps"
	"testing"
)

func TestClassOfAStatus(t *testing.T) {
	for status, want := range map[int]string{0: "none", 99: "none", 101: "1xx", 200: "2xx", 304: "3xx", 499: "4xx", 599: "5xx", 600: "5xx", 999: "5xx", -1: "none"} {
		if got := Of(status).String(); got != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
	}
}

func TestCountsByClass(t *testing.T) {
	c := Counts{None: 1, Success: 20, ServerError: 4}
	if want := map[string]int64{"none": 1, "1xx": 0, "2xx": 20, "3xx": 0, "4xx": 0, "5xx": 4}; !maps.Equal(c.Map(), want) {
		t.Errorf("got %v, want %v", c.Map(), want)
	}
	if c.All() != 25 || c.Failed() != 5 {
		t.Errorf("got %d and %d failed, want 25 and 5", c.All(), c.Failed())
	}
	if got, want := c.Since(Counts{Success: 15, ServerError: 4}), (Counts{None: 1, Success: 5}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := c.Since(Counts{Success: 21}); got != c {
		t.Errorf("after counts that began anew: got %v, want %v", got, c)
	}
}
