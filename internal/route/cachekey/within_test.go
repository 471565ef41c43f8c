package cachekey_test

import (
	"bytes"
	"strings"
	"testing"

	"edgeproxy/internal/route/cachekey"
)

// Keys of routes that share URLs are never the same, nor the begin of one another's variants.
func TestKeysWithinRoutesAreApart(t *testing.T) {
	options := []cachekey.Options{{}, {Headers: []string{"X-A"}}, {Cookies: []string{"id"}}, {Headers: []string{"X-A"}, Cookies: []string{"id"}}}
	in := request{"X-A": {"1"}, "Cookie": {"id=2"}}
	keys := map[string]string{}
	add := func(name string, key []byte) {
		if other, twice := keys[string(key)]; twice {
			t.Errorf("%s and %s: got the same key %q", name, other, key)
		}
		keys[string(key)] = name
	}
	for i, o := range options {
		r := rules(t, o)
		if plain := r.AppendSelectors(nil, in.lines); len(plain) > 0 || i == 0 {
			add("plain", append(plain, byte(i))) // i stands for the rules, which are of different routes
		}
		for _, route := range []string{"a", "b", strings.Repeat("a", 64)} {
			own := r.Within(route)
			if !own.Selects() {
				t.Errorf("%s: got no selectors", route)
			}
			key := own.AppendSelectors(nil, in.lines)
			if !bytes.HasPrefix(key, r.AppendSelectors(nil, in.lines)) {
				t.Errorf("%s: got %q, want the selectors of the rules first", route, key)
			}
			add(route, append(key, byte(i)))
		}
	}
	if zero := new(cachekey.Rules); zero.Selects() {
		t.Error("rules of no route: got selectors, want Within to leave them alone")
	}
}
