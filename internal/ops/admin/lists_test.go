package admin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	o := options()
	o.Token = "secret"
	of := func(what string) func(int) any {
		return func(rows int) any { return map[string]string{what: fmt.Sprint(rows, " rows")} }
	}
	o.Top, o.Requests = of("top"), of("requests")
	g := serve(t, mustNew(t, o))
	f := func(path string, status int, says string) {
		t.Helper()
		a := g.do("GET", path, "", "Authorization", "Bearer secret")
		if a.status != status || !strings.Contains(a.body, says) {
			t.Errorf("%s: got %d %q, want %d and %q", path, a.status, a.body, status, says)
		}
		if status != http.StatusOK {
			g.errorText(a)
		}
	}
	f("/top", http.StatusOK, `"top": "20 rows"`)
	f("/top?n=1", http.StatusOK, `"top": "1 rows"`)
	f("/requests", http.StatusOK, `"requests": "100 rows"`)
	f("/requests?n=100", http.StatusOK, `"requests": "100 rows"`)
	for _, n := range []string{"0", "-1", "101", "x", "", "99999999999999999999", "1.5"} {
		f("/top?n="+n, http.StatusBadRequest, "must be a number of rows from 1 to 100")
	}
	f("/top?n=1&n=2", http.StatusBadRequest, "n: given twice")
	f("/top?rows=1", http.StatusBadRequest, "unknown parameter; must be n")
	f("/requests?n=%zz", http.StatusBadRequest, "the query cannot be read")
	f("/paths", http.StatusOK, "/requests")
	f("/paths", http.StatusOK, "/top")

	for _, path := range []string{"/top", "/requests"} {
		if a := g.do("GET", path, ""); a.status != http.StatusUnauthorized {
			t.Errorf("%s without the token: got %d, want 401", path, a.status)
		}
		if a := g.do("POST", path, "", "Authorization", "Bearer secret"); a.status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: got %d, want 405", path, a.status)
		}
	}
	o.Top, o.Requests = nil, nil
	if a := serve(t, mustNew(t, o)).do("GET", "/top", "", "Authorization", "Bearer secret"); a.status != http.StatusNotFound {
		t.Errorf("without a list: got %d, want 404", a.status)
	}
}
