package config

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/route/routing"
)

// byPath is a match by path: lists whose elements stand apart by spaces.
func byPath(paths, prefixes, suffixes string) routing.Match {
	return routing.Match{Hosts: []routing.Host{{}}, Paths: strings.Fields(paths), PathPrefixes: strings.Fields(prefixes), PathSuffixes: strings.Fields(suffixes)}
}

func TestMatchCoversPaths(t *testing.T) {
	check := func(early, late routing.Match, want bool) {
		t.Helper()
		if got := early.Covers(&late); got != want {
			t.Errorf("%+v covers %+v: got %v, want %v", early, late, got, want)
		}
	}
	check(byPath("", "/", ".a .b"), byPath("", "/", ".a"), true)
	check(byPath("", "/", ".a .b"), byPath("", "/", ".b .a"), true)
	check(byPath("", "/", ".a .b"), byPath("", "/x", ".min.a"), true)
	check(byPath("", "/", ".a .b"), byPath("", "/", ".a .c"), false)
	check(byPath("", "/", ".a .b"), byPath("", "/", ""), false)
	check(byPath("", "/", ".a .b"), byPath("/x.a /y.b", "/", ""), true)
	check(byPath("", "/", ".a .b"), byPath("/x.a /y.c", "/", ""), false)
	check(byPath("/x /y", "/", ""), byPath("/y", "/", ""), true)
	check(byPath("/x /y", "/", ""), byPath("/y /z", "/", ""), false)
	check(byPath("/x /y", "/", ""), byPath("", "/x", ""), false)
	check(byPath("", "/x /y", ""), byPath("", "/y/z /x", ""), true)
	check(byPath("", "/x /y", ""), byPath("", "/x /z", ""), false)
	check(byPath("", "/x /y", ".a"), byPath("", "/x", ".a .b"), false)
	check(byPath("", "/x /y", ".a"), byPath("/x/1.a /y/1.a", "/", ""), true)
	check(byPath("", "/x /y", ".a"), byPath("/x/1.a /z/1.a", "/", ""), false)
	// /x is not below /x/: only a suffix says that it is not asked for.
	check(byPath("", "/x/", ""), byPath("", "/x", ""), false)
	check(byPath("", "/x/", ""), byPath("", "/x", ".a"), true)
	check(byPath("", "/x/", ""), byPath("", "/x", "x"), false)
	check(byPath("", "/x/ /x", ""), byPath("", "/x", ""), true)
}

// matches is what Match says of a path, in other words.
func matches(m *routing.Match, path string) bool {
	under := func(prefix string) bool {
		return strings.HasPrefix(path+"/", strings.TrimSuffix(prefix, "/")+"/") && (!strings.HasSuffix(prefix, "/") || strings.HasPrefix(path, prefix))
	}
	return (m.Paths == nil || slices.Contains(m.Paths, path)) && slices.ContainsFunc(m.PathPrefixes, under) &&
		(m.PathSuffixes == nil || slices.ContainsFunc(m.PathSuffixes, func(s string) bool { return strings.HasSuffix(path, s) }))
}

// TestARouteHidesAnotherExactly where there is no path that only the other one matches.
func TestARouteHidesAnotherExactly(t *testing.T) {
	paths := []string{"/", "/a", "/a/", "/b", "/a/b", "/xa", "/x/ab"}
	prefixes := []string{"/", "/a", "/a/", "/b", "/b/", "/a/b", "/a/b/", "/ab"}
	suffixes := []string{"a", "b", "ab", "/", "a/", "/a", "/b", "a/b"}
	asked := slices.Clone(paths)
	for _, p := range prefixes {
		for _, s := range append(suffixes, "") {
			for _, between := range []string{"", "/", "z", "/z", "/z/"} { // no suffix has a z
				if path := p + between + s; !strings.Contains(path, "//") {
					asked = append(asked, path)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 8))
	some := func(all []string, least int) (out []string) {
		for _, i := range r.Perm(len(all))[:least+r.IntN(4-least)] {
			out = append(out, all[i])
		}
		return out
	}
	random := func() routing.Match {
		for {
			m := routing.Match{Hosts: []routing.Host{{}}, PathPrefixes: some(prefixes, 1), PathSuffixes: some(suffixes, 0)}
			if r.IntN(3) == 0 {
				m.Paths = some(paths, 0)
			}
			if !slices.ContainsFunc(m.Paths, func(p string) bool { return !matches(&m, p) }) { // the whole match is refused then
				return m
			}
		}
	}
	hidden := 0
	for range 50_000 {
		early, late := random(), random()
		i := slices.IndexFunc(asked, func(path string) bool { return matches(&late, path) && !matches(&early, path) })
		got := early.Covers(&late)
		if got != (i < 0) {
			t.Fatalf("%+v covers %+v: got %v, want %v: %v", early, late, got, i < 0, asked[max(i, 0)])
		}
		if got {
			hidden++
		}
	}
	if hidden < 1000 {
		t.Errorf("got %d of the routes hidden, want more for a test", hidden)
	}
}

func TestAnySchemeCoversEither(t *testing.T) {
	all := []routing.Scheme{routing.AnyScheme, routing.SchemeHTTP, routing.SchemeHTTPS}
	for _, early := range all {
		for _, late := range all {
			m := func(s routing.Scheme) routing.Match {
				return routing.Match{Hosts: []routing.Host{{}}, Scheme: s, PathPrefixes: []string{"/"}}
			}
			if got, want := new(m(early)).Covers(new(m(late))), early == routing.AnyScheme || early == late; got != want {
				t.Errorf("%s covers %s: got %v, want %v", early, late, got, want)
			}
		}
	}
}
