package routing

import (
	"math/rand/v2"
	"testing"
)

func TestAMatchTakesHosts(t *testing.T) {
	scheme := "http"
	f := func(pattern Host, host string, want bool) {
		t.Helper()
		m := &Match{Hosts: []Host{pattern}, PathPrefixes: []string{"/"}}
		if got := m.TakesURL(scheme, []byte(host), []byte("/x")); got != want {
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
	scheme = "https"
	f(Host{Name: "a", Port: 80}, "a", false)
	f(Host{Name: "a", Port: 443}, "a", true)
	f(Host{Name: "a", Port: 80}, "a:80", true)
}

func TestAMatchTakesWholeSegments(t *testing.T) {
	f := func(prefix, path string, want bool) {
		t.Helper()
		m := &Match{Hosts: []Host{{}}, PathPrefixes: []string{prefix}}
		if got := m.TakesURL("http", []byte("h"), []byte(path)); got != want {
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

func TestAMatchTakesAllThatItNames(t *testing.T) {
	f := func(m *Match, path string, want bool) {
		t.Helper()
		m.Hosts = []Host{{}}
		if got := m.TakesURL("http", []byte("h"), []byte(path)); got != want {
			t.Errorf("%+v, path %q: got %v, want %v", m, path, got, want)
		}
	}
	f(&Match{Paths: []string{"/a"}, PathPrefixes: []string{"/"}}, "/a", true)
	f(&Match{Paths: []string{"/a"}, PathPrefixes: []string{"/"}}, "/a/", false)
	f(&Match{Paths: []string{"/a"}, PathPrefixes: []string{"/"}}, "*", false)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".jpg"}}, "/a.jpg", true)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".jpg"}}, "/a.jpg/", false)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".jpg"}}, "*", false)
	f(&Match{PathPrefixes: []string{"/i"}, PathSuffixes: []string{"i"}}, "/i", true)
	f(&Match{PathPrefixes: []string{"/i"}, PathSuffixes: []string{".jpg"}}, "/a.jpg", false)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".css", ".js"}}, "/a.js", true)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".css", ".js"}}, "/a.jsx", false)
	f(&Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{".css", "/a.js"}}, ".js", false)
	f(&Match{Paths: []string{"/a", "/b"}, PathPrefixes: []string{"/"}}, "/b", true)
	f(&Match{Paths: []string{"/a", "/b"}, PathPrefixes: []string{"/"}}, "/c", false)
	f(&Match{PathPrefixes: []string{"/a", "/b/"}}, "/b/c", true)
	f(&Match{PathPrefixes: []string{"/a", "/b/"}}, "/b", false)
	f(&Match{PathPrefixes: []string{"/a", "/"}}, "*", true)
	f(&Match{}, "/", false)
}

func TestAMatchForEveryPath(t *testing.T) {
	for _, c := range []struct {
		m    Match
		want bool
	}{
		{Match{PathPrefixes: []string{"/"}}, true},
		{Match{PathPrefixes: []string{"/a", "/"}, Methods: []string{"GET"}}, true},
		{Match{PathPrefixes: []string{"/a"}}, false},
		{Match{}, false},
		{Match{PathPrefixes: []string{"/"}, Paths: []string{"/"}}, false},
		{Match{PathPrefixes: []string{"/"}, PathSuffixes: []string{"/"}}, false},
	} {
		if got := c.m.TakesEveryPath(); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.m, got, c.want)
		}
	}
}

// TestAListMatchesWhereOneOfItsValuesDoes: a route with lists stands for those that have one value of each.
func TestAListMatchesWhereOneOfItsValuesDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func(most int) string {
		b := make([]byte, r.IntN(most))
		for i := range b {
			b[i] = "/ab."[r.IntN(4)]
		}
		return string(b)
	}
	list := func(least int, before string) (out []string) {
		for range least + r.IntN(4-least) {
			out = append(out, before+text(4))
		}
		return out
	}
	each := func(list []string) (out [][]string) { // one value each, or none of none
		for i := range list {
			out = append(out, list[i:i+1])
		}
		if list == nil {
			out = [][]string{nil}
		}
		return out
	}
	matched := 0
	for range 100_000 {
		all := &Match{PathPrefixes: list(1, "/"), PathSuffixes: list(0, "")}
		if r.IntN(4) == 0 {
			all.Paths = list(0, "/")
		}
		path, want := []byte("/"+text(6)), false
		for _, paths := range each(all.Paths) {
			for _, prefixes := range each(all.PathPrefixes) {
				for _, suffixes := range each(all.PathSuffixes) {
					want = want || (&Match{Paths: paths, PathPrefixes: prefixes, PathSuffixes: suffixes}).TakesPath(path)
				}
			}
		}
		if got := all.TakesPath(path); got != want {
			t.Fatalf("paths %q, prefixes %q, suffixes %q: %q: got %v, want %v", all.Paths, all.PathPrefixes, all.PathSuffixes, path, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("got %d paths matched, want more for a test", matched)
	}
}

func TestValuesHold(t *testing.T) {
	f := func(m ValueMatch, value string, want bool) {
		t.Helper()
		if got := m.holds([]byte(value)); got != want {
			t.Errorf("%+v, %q: got %v, want %v", m, value, got, want)
		}
	}
	f(ValueMatch{Value: []byte("a")}, "a", true)
	f(ValueMatch{Value: []byte("a")}, "A", false)
	f(ValueMatch{Value: []byte("a")}, "ab", false)
	f(ValueMatch{Value: []byte("a"), AnyBehind: true}, "ab", true)
	f(ValueMatch{Value: []byte("a"), AnyBehind: true}, "ba", false)
	f(ValueMatch{Value: []byte("a"), AnyBefore: true}, "ba", true)
	f(ValueMatch{Value: []byte("a"), AnyBefore: true}, "ab", false)
	f(ValueMatch{Value: []byte("a"), AnyBefore: true, AnyBehind: true}, "bab", true)
	f(ValueMatch{Value: []byte("a"), AnyBefore: true, AnyBehind: true}, "b", false)
	f(ValueMatch{AnyBefore: true, AnyBehind: true}, "", true)
}
