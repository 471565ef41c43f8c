package proxy

import "testing"

func TestRouteMatchesHosts(t *testing.T) {
	scheme := schemePlain
	f := func(pattern Host, host string, want bool) {
		t.Helper()
		r := &route{Route: &Route{Hosts: []Host{pattern}, PathPrefix: "/"}}
		if got := r.matches(scheme, []byte(host), []byte("/x")); got != want {
			t.Errorf("%+v, host %q: got %v, want %v", pattern, host, got, want)
		}
	}
	f(Host{}, "anything:81", true)
	f(Host{Name: "a.example"}, "a.example", true)
	f(Host{Name: "a.example"}, "a.example:81", true)
	f(Host{Name: "a.example"}, "b.a.example", false)
	f(Host{Name: "a.example"}, "xa.example", false)
	f(Host{Name: "example", Subdomains: true}, "a.example", true)
	f(Host{Name: "example", Subdomains: true}, "b.a.example:81", true)
	f(Host{Name: "example", Subdomains: true}, "example", false)
	f(Host{Name: "example", Subdomains: true}, ".example", false)
	f(Host{Name: "example", Subdomains: true}, "aexample", false)
	f(Host{Name: "a", Port: 81}, "a:81", true)
	f(Host{Name: "a", Port: 81}, "a", false)
	f(Host{Name: "a", Port: 80}, "a", true)
	f(Host{Port: 8080}, "b:8080", true)
	f(Host{Name: "[::1]"}, "[::1]", true)
	f(Host{Name: "[::1]", Port: 81}, "[::1]:81", true)
	scheme = schemeSecure
	f(Host{Name: "a", Port: 80}, "a", false)
	f(Host{Name: "a", Port: 443}, "a", true)
	f(Host{Name: "a", Port: 80}, "a:80", true)
}

func TestRouteMatchesWholeSegments(t *testing.T) {
	f := func(prefix, path string, want bool) {
		t.Helper()
		r := &route{Route: &Route{Hosts: []Host{{}}, PathPrefix: prefix}}
		if got := r.matches(schemePlain, []byte("h"), []byte(path)); got != want {
			t.Errorf("prefix %q, path %q: got %v, want %v", prefix, path, got, want)
		}
	}
	f("/", "/", true)
	f("/", "/x", true)
	f("/", "*", true)
	f("/api", "/api", true)
	f("/api", "/api/x", true)
	f("/api", "/apix", false)
	f("/api", "/ap", false)
	f("/api", "*", false)
	f("/api/", "/api/x", true)
	f("/api/", "/api", false)
}

func TestRouteMatchesAllThatItNames(t *testing.T) {
	f := func(r *Route, path string, want bool) {
		t.Helper()
		r.Hosts = []Host{{}}
		if got := (&route{Route: r}).matches(schemePlain, []byte("h"), []byte(path)); got != want {
			t.Errorf("%+v, path %q: got %v, want %v", r, path, got, want)
		}
	}
	f(&Route{Path: "/a", PathPrefix: "/"}, "/a", true)
	f(&Route{Path: "/a", PathPrefix: "/"}, "/a/", false)
	f(&Route{Path: "/a", PathPrefix: "/"}, "*", false)
	f(&Route{PathPrefix: "/", PathSuffix: ".jpg"}, "/a.jpg", true)
	f(&Route{PathPrefix: "/", PathSuffix: ".jpg"}, "/a.jpg/", false)
	f(&Route{PathPrefix: "/", PathSuffix: ".jpg"}, "*", false)
	f(&Route{PathPrefix: "/i", PathSuffix: "i"}, "/i", true)
	f(&Route{PathPrefix: "/i", PathSuffix: ".jpg"}, "/a.jpg", false)
}

func TestFieldMatchesHold(t *testing.T) {
	f := func(m FieldMatch, value string, want bool) {
		t.Helper()
		if got := m.holds([]byte(value)); got != want {
			t.Errorf("%+v, %q: got %v, want %v", m, value, got, want)
		}
	}
	f(FieldMatch{Value: []byte("a")}, "a", true)
	f(FieldMatch{Value: []byte("a")}, "A", false)
	f(FieldMatch{Value: []byte("a")}, "ab", false)
	f(FieldMatch{Value: []byte("a"), AnyBehind: true}, "ab", true)
	f(FieldMatch{Value: []byte("a"), AnyBehind: true}, "ba", false)
	f(FieldMatch{Value: []byte("a"), AnyBefore: true}, "ba", true)
	f(FieldMatch{Value: []byte("a"), AnyBefore: true}, "ab", false)
	f(FieldMatch{Value: []byte("a"), AnyBefore: true, AnyBehind: true}, "bab", true)
	f(FieldMatch{Value: []byte("a"), AnyBefore: true, AnyBehind: true}, "b", false)
	f(FieldMatch{AnyBefore: true, AnyBehind: true}, "", true)
}
