package rfc9111

import (
	"slices"
	"strings"
	"testing"
)

// RFC 9111 section 4.4.
func TestInvalidates(t *testing.T) {
	f := func(want bool, method string, statuses ...int) {
		t.Helper()
		for _, status := range statuses {
			if got := Invalidates(method, status); got != want {
				t.Errorf("%s %d: got %v, want %v", method, status, got, want)
			}
		}
	}
	for _, m := range []string{"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "PURGE", "get", ""} {
		f(true, m, 200, 201, 204, 299, 301, 303, 304, 399)
		f(false, m, 0, 100, 103, 199, 400, 404, 500, 503, 599, 999)
	}
	for _, m := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "REPORT", "SEARCH"} {
		f(false, m, 200, 301, 500)
	}
}

func TestInvalidationTargets(t *testing.T) {
	f := func(u URI, want []string, lines ...string) {
		t.Helper()
		if got := invalidationTargets(head(t, lines...), u); !slices.Equal(got, want) {
			t.Errorf("%+v %q: got %q, want %q", u, lines, got, want)
		}
	}
	l := func(targets ...string) []string { return targets }
	u := URI{Scheme: "http", Host: "a.example", Target: "/dir/x?q"}
	f(u, nil)
	f(u, l("/y"), "Location: /y")
	f(u, l("/dir/y?z"), "Location: y?z")
	f(u, l("/y", "/z"), "Content-Location: /z#part", "Location: /y")
	f(u, l("/y"), "Content-Location: /y", "Location: http://a.example/y")
	f(u, l("/dir/x?r"), "Location: ?r")
	f(u, l("/y"), "Location: ../../y")
	f(u, l("/%c3%A9+%2f"), "Location: /%c3%A9+%2f")
	f(u, l("/a%20b?c%20%C3%A9%22"), "Location: /a b?c é\"")
	f(u, l("/"), "Location: HTTP://A.Example.:80")
	f(u, l("/y"), "Location: //a.example/y")
	// The URI itself is invalid in any case.
	f(u, nil, "Location: /dir/x?q")
	f(u, nil, "Location:")

	// Another origin, or nobody's.
	f(u, nil, "Location: https://a.example/y", "Content-Location: http://b.example/y")
	f(u, nil, "Location: http://a.example:8080/y", "Content-Location: //a.example:81/")
	f(u, nil, "Location: http://user@a.example/y", "Content-Location: mailto:a@example")
	f(u, nil, "Location: http:y", "Content-Location: http:///y")
	f(u, nil, "Location: /y", "Location: /z")
	f(u, nil, "Location: http://a.example:port/", "Content-Location: /\x7f")
	f(u, nil, "Location: /"+strings.Repeat("a", maxReference))
	f(u, l("/y"), "Location: "+strings.Repeat("../", maxClimbs)+"y")
	f(u, nil, "Location: "+strings.Repeat("../", maxClimbs+1)+"y")

	// Ports that are the scheme's own, and hosts of all kinds.
	tls := URI{Scheme: "https", Host: "a.example:8443", Target: "/"}
	f(tls, l("/y"), "Location: https://a.example:8443/y")
	f(tls, nil, "Location: https://a.example/y", "Content-Location: https://a.example:443/y")
	f(URI{Scheme: "https", Host: "a.example", Target: "/"}, l("/y"), "Location: https://a.example:443/y")
	f(URI{Scheme: "http", Host: "[::1]", Target: "/"}, l("/y"), "Location: http://[::1]:80/y")
	f(URI{Scheme: "http", Host: "[::1]:8080", Target: "/"}, l("/y"), "Location: http://[::1]:8080/y")

	// A target that is no URI.
	f(URI{Scheme: "http", Host: "a.example", Target: "/%zz"}, l("/y"), "Location: /y")
	f(URI{Scheme: "http", Host: "a.example", Target: "*"}, l("/y"), "Location: /y")
}
