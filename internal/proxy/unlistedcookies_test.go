package proxy

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/internal/route/cachekey"
)

// Clients choose the names: what comes often is not pushed out by names that come once, and memory is bounded.
func TestNamesOfCookiesTakeNoMoreThanTheirPlace(t *testing.T) {
	key, err := cachekey.New(cachekey.Options{Cookies: []string{"lang"}})
	if err != nil {
		t.Fatal(err)
	}
	var c cookieCounts
	if got := c.counts(); got != nil {
		t.Errorf("got %v, want none", got)
	}
	for n := range 5000 {
		c.add(key, []string{"_ga=1; lang=de", fmt.Sprintf("made_up_%d=1", n)})
	}
	got := c.counts()
	if len(got) != countedCookies || got["_ga"] != 5000 || got["lang"] != 0 {
		t.Errorf("got %d names, _ga %d, lang %d times, want %d, 5000 and 0", len(got), got["_ga"], got["lang"], countedCookies)
	}

	c = cookieCounts{}
	c.add(key, []string{strings.Repeat("x", 1000) + "=1", "b\x1b=1; c=\x1b"})
	if got := c.counts(); len(got) != 2 || got[strings.Repeat("x", cookieNameBytes)] != 1 || got["c"] != 1 {
		t.Errorf("got %v, want the beginning of the long name, and c", got)
	}
	var many []string
	for n := range 100 {
		many = append(many, fmt.Sprintf("c%d=1", n))
	}
	c = cookieCounts{}
	c.add(key, []string{strings.Join(many, ";")})
	if got := c.counts(); len(got) != namesPerRequest {
		t.Errorf("of one request got %d names, want %d", len(got), namesPerRequest)
	}
}
