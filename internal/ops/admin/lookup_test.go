package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	o := options()
	o.Token = "secret"
	o.Lookup = func(method, url string, fields [][2]string) (any, error) {
		if url == "bad" {
			return nil, errors.New("must be a better one")
		}
		return map[string]string{"asked": fmt.Sprint(method, " ", url, " ", fields)}, nil
	}
	g := serve(t, mustNew(t, o))
	f := func(query string, status int, says string) {
		t.Helper()
		a := g.do("GET", "/lookup?"+query, "", "Authorization", "Bearer secret")
		if a.status != status || !strings.Contains(a.body, says) {
			t.Errorf("%s: got %d %q, want %d and %q", query, a.status, a.body, status, says)
		}
		if status != http.StatusOK {
			g.errorText(a)
		}
	}
	f("url="+url.QueryEscape("http://h/p?q=1&r"), http.StatusOK, "GET http://h/p?q=1&r []")
	f("url=http://h/&method=HEAD&header=A:+b&header=C:d", http.StatusOK, "HEAD http://h/ [[A b] [C d]]")
	f("url=bad", http.StatusBadRequest, "must be a better one")
	f("", http.StatusBadRequest, "url: must be an absolute URL")
	f("url=a&url=b", http.StatusBadRequest, "url: given twice")
	f("url=a&header=b", http.StatusBadRequest, "header: must be NAME: VALUE")
	f("url=a&heder=b", http.StatusBadRequest, "unknown parameter")
	f("url=a"+strings.Repeat("&header=A:b", maxLookupFields+1), http.StatusBadRequest, "header: too many fields")
	f("url=%zz", http.StatusBadRequest, "the query cannot be read")

	if a := g.do("GET", "/lookup?url=a", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without the token: got %d, want 401", a.status)
	}
}
