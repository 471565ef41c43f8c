package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/route/cachekey"
)

func TestRoutesTakeKeyRulesNameByName(t *testing.T) {
	c, err := Parse("edge.yaml", []byte(`
origins: {app: {servers: ["http://h"]}}
cache: {key: {ignore_query: [utm_*], headers: [X-Lang], sort_query: true}}
routes:
  - {name: all, origin: app}
  - {name: own, origin: app, cache: {key: {ignore_query: [], only_query: [q], sort_query: false}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(route int, want cachekey.Options) {
		t.Helper()
		if d := cmp.Diff(want, c.Routes[route].Cache.Key); d != "" {
			t.Errorf("route %s: want -, got +:\n%s", c.Routes[route].Name, d)
		}
	}
	f(0, cachekey.Options{IgnoreQuery: []string{"utm_*"}, Headers: []string{"X-Lang"}, SortQuery: true})
	f(1, cachekey.Options{OnlyQuery: []string{"q"}, Headers: []string{"X-Lang"}})
}
