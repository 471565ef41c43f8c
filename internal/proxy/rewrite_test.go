package proxy

import (
	"strings"
	"testing"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/routing"
	"edgeproxy/internal/wire"
)

// An origin that takes parameters away before it resolves a path was led out of what is added.
func TestDotsWithParametersAreDots(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/..;/x": true, "/api/.;a=b/x": true, "/api/x/..;": true, "/api/a;b/..;c/x": true, "/;/..;/": true,
		"/api/x": false, "/api/x;..": false, "/api/..x;/y": false, "/api/x..;/y": false, "/api/;/x": false, "/a;b;c/d;..;e": false, "": false,
	} {
		if got := dotsWithParameters([]byte(path)); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

// Browsers take tabs out of a URL: "/", a tab, "/host" named the host.
func TestALocationWithATabIsLeftAlone(t *testing.T) {
	for _, reference := range []string{"/base/\t/evil.example/x", "http://app/base/\t/evil.example", "/base/\t\\evil.example"} {
		if got := NewRewrite("", "/base", true, nil).location(reference, "edge.test", "app", nil); got != reference {
			t.Errorf("%q: got %q, want it as it is", reference, got)
		}
	}
}

// A URL that another origin has is not the one that was named, though both routes are rewritten alike.
func TestALocationDoesNotLeadToAnotherOrigin(t *testing.T) {
	app, other := &origin.Origin{}, &origin.Origin{}
	add := NewRewrite("", "/v2", true, nil)
	below := func(prefix string) routing.Match {
		return routing.Match{Hosts: []routing.Host{{}}, PathPrefixes: []string{prefix}}
	}
	var all []*route
	for _, r := range []Route{
		{Match: below("/deep"), Origin: app, Rewrite: add},
		{Match: below("/shop"), Origin: app, Rewrite: add},
		{Match: below("/blog"), Origin: other, Rewrite: add},
		{Match: below("/v2/plain"), Origin: app},
		{Match: below("/s"), Origin: app, Rewrite: NewRewrite("/s", "/v2", true, nil)},
	} {
		all = append(all, &route{Route: &r})
	}
	deep := all[0]
	deep.all = all
	for out, want := range map[string]bool{
		"/deep": true, "/deep/x?y": true, "/shop/x#y": true, "/shop": true, "/blog/x": false, "/none": false, "/v2/plain": false, "/s/x": false,
	} {
		if got := deep.leadsBack("http", "h", out, "/v2"+out); got != want {
			t.Errorf("%s: got %v, want %v", out, got, want)
		}
	}
	if !deep.leadsBack("http", "h", "/s/x", "/v2/x") {
		t.Error("a path that another route asks the same origin for does not lead back")
	}
}

// Of two routes that a parameter tells apart, each has another origin.
func TestALocationLeadsBackByItsQuery(t *testing.T) {
	app, other := &origin.Origin{}, &origin.Origin{}
	add := NewRewrite("", "/v2", true, nil)
	below := func(query ...routing.ValueMatch) routing.Match {
		return routing.Match{Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}, Query: query}
	}
	beta := routing.ValueMatch{Name: "beta", Value: []byte("1")}
	var all []*route
	for _, r := range []Route{
		{Match: below(beta, routing.ValueMatch{Name: "more", AnyBefore: true, AnyBehind: true}), Origin: app, Rewrite: add},
		{Match: below(beta), Origin: app, Rewrite: add},
		{Match: below(), Origin: other, Rewrite: add},
	} {
		all = append(all, &route{Route: &r})
	}
	first := all[0]
	first.all = all
	for out, want := range map[string]bool{
		"/x?beta=1&more": true, "/x?beta=1": true, "/x?beta=%31#f": true, "/x": false, "/x?beta=2&more": false, "/x#?beta=1": false,
	} {
		if got := first.leadsBack("http", "h", out, "/v2"+out); got != want {
			t.Errorf("%s: got %v, want %v", out, got, want)
		}
	}
}

// FuzzRewrite: what is let through is, to an origin that decodes and resolves it, what the route took it for, with the
// other begin. So nothing leads out of that. It names no host, and a path of the origin comes back as it went.
func FuzzRewrite(f *testing.F) {
	for _, target := range []string{
		"/api", "/api/", "/api/x?y=/api", "/api?x", "//api/x", "/api//x", "/api/../api/x", "/api/%2e%2e/api", "/%61pi/x", "/api%2fx", "/api/..%2Fapi/x", "/apix", "/api/a/../b", "/api/%", "/api/.", "/api/%2f",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := wire.ParseTarget([]byte(raw), schemePlain, false)
		if err != nil || raw[0] != '/' {
			return
		}
		path := wire.AppendPath(nil, target.Path)
		for _, w := range []*Rewrite{NewRewrite("/api", "/v2", true, nil), NewRewrite("/api/", "", true, nil), NewRewrite("", "/v2/", true, nil)} {
			if m := (routing.Match{PathPrefixes: []string{"/" + strings.TrimPrefix(w.Strip, "/")}}); !m.TakesPath(path) || !w.takes(target, path) {
				continue
			}
			got := w.append(nil, target.Raw)
			asked, err := wire.ParseTarget(got, schemePlain, false)
			if err != nil || asked.Path[0] != '/' || w.Strip != "" && strings.HasPrefix(string(got), "//") {
				t.Fatalf("%q: asks for %q, %v", raw, got, err)
			}
			want := w.Add + string(path)[len(w.Strip):]
			if want == "" {
				want = "/"
			}
			if read := string(wire.AppendPath(nil, asked.Path)); read != want {
				t.Errorf("%q: asks for %q, which is read as %q, want %q", raw, got, read, want)
			}
			if back := w.location(string(got), "", "", nil); w.Add != "" && w.Strip != "" && back != raw {
				t.Errorf("%q: asks for %q, which comes back as %q", raw, got, back)
			}
		}
	})
}
