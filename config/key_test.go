package config

import (
	"strings"
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

// problems returns the errors of a file called e.yaml with this text; "" is none.
func problems(text string) string {
	if _, err := Parse("e.yaml", []byte(text)); err != nil {
		return err.Error()
	}
	return ""
}

func TestKeyRulesAreCheckedByPlace(t *testing.T) {
	f := func(name, text string, want ...string) {
		t.Helper()
		got := problems("origins: {app: {servers: [\"http://h\"]}}\n" + text)
		if w := strings.Join(want, "\n"); got != w {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, w)
		}
	}
	const param, sent = "must be the decoded name of a parameter, or how it begins and *, up to 128 bytes", "must be a field that reaches the origin as the client sent it"

	f("good", "cache: {key: {ignore_query: [utm_*, \"*\"], headers: [accept-language, Authorization], cookies: [theme]}}\n")
	f("bad names", "cache: {key: {ignore_query: [a, \"a*b\"], headers: [\"a b\", X-A], cookies: [\"=\"]}}\n",
		`e.yaml:2:33: cache.key.ignore_query[1]: a*b: `+param,
		`e.yaml:2:51: cache.key.headers[0]: a b: must be the name of a header field other than Host and Cookie, without *, up to 128 bytes`,
		`e.yaml:2:74: cache.key.cookies[0]: =: must be the name of a cookie, without *, up to 128 bytes`)
	f("both query rules", "cache: {key: {ignore_query: [a], only_query: [b]}}\n",
		"e.yaml:2:46: cache.key.only_query: must be without ignore_query beside it: only what is listed here is kept")
	f("a route's", "routes: [{name: a, origin: app, cache: {key: {only_query: [\"\"]}}}]\n", `e.yaml:2:60: routes[0].cache.key.only_query[0]: "": `+param)
	f("what a route is left with", "cache: {key: {ignore_query: [a]}}\nroutes: [{name: a, origin: app, cache: {key: {only_query: [b]}}}]\n",
		"e.yaml:3:59: routes[0].cache.key.only_query: must be without ignore_query beside it: only what is listed here is kept")
	for _, name := range []string{"via", "X-Forwarded-For", "X_Forwarded_Host", "forwarded", "Connection", "Transfer-Encoding", "Range", "If-Range", "If-None-Match", "If-Match", "If-Unmodified-Since", "Expect"} {
		f(name, "cache: {key: {headers: ["+name+"]}}\n", "e.yaml:2:25: cache.key.headers[0]: "+name+": "+sent)
	}
}
