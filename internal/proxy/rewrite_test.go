package proxy

import (
	"testing"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
)

// A URL that another origin has is not the one that was named, though both routes are rewritten alike.
func TestALocationDoesNotLeadToAnotherOrigin(t *testing.T) {
	app, other := &origin.Origin{}, &origin.Origin{}
	add := rewrite.New(rewrite.Options{AddPrefix: "/v2", Locations: true}, nil)
	below := func(prefix string) routing.Match {
		return routing.Match{Hosts: []routing.Host{{}}, PathPrefixes: []string{prefix}}
	}
	var all []*route
	for _, r := range []Route{
		{Match: below("/deep"), Origin: app, Rewrite: add},
		{Match: below("/shop"), Origin: app, Rewrite: add},
		{Match: below("/blog"), Origin: other, Rewrite: add},
		{Match: below("/v2/plain"), Origin: app},
		{Match: below("/s"), Origin: app, Rewrite: rewrite.New(rewrite.Options{StripPrefix: "/s", AddPrefix: "/v2", Locations: true}, nil)},
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
	add := rewrite.New(rewrite.Options{AddPrefix: "/v2", Locations: true}, nil)
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
