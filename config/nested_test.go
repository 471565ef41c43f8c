package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoutesWithinARouteAreAsWrittenOut compares what is in force by a file with routes within routes, and by one that repeats what they share.
func TestRoutesWithinARouteAreAsWrittenOut(t *testing.T) {
	const head = `access_log: {path: "-"}
origins: {shop: {servers: ["http://127.0.0.1:1"]}, img: {servers: ["http://127.0.0.1:2"]}}
admission: {counting: {more_than: 3}}
headers: {request: {set: {X-Top: "1", X-Gone: "1"}}}
routes:
`
	effective := func(text string) string {
		t.Helper()
		c, err := Parse(caseFile, []byte(head+text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Effective()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	nested := effective(`  - name: shop
    match: {hosts: [shop.example.com, "*.shop.example.com"]}
    origin: shop
    idle_timeout: 7s
    rewrite: {add_prefix: /v1}
    total_timeout: 1m
    unusual_field_names: keep
    admission: {policy: counting, more_than: 2}
    cache: {default_ttl: 5m, strip_cookies: [_ga*], key: {ignore_query: [utm_*]}, slice: 0B}
    access: {allow: [10.0.0.0/8], deny: [10.1.0.0/16], basic_auth: {users_file: users, realm: shop}}
    headers:
      request: {set: {X-Site: shop, X-B: b, X-C: c}, remove: [X-R, X-Q]}
      response: {remove: [Server]}
      generated: {set: {X-Made: edge}}
    error_pages: {404: 404.html, 5xx: sorry.html}
    intercept_errors: true
    compress: {codings: [gzip], level: better}
    limits: {rate: {requests: 5, burst: 10}}
    access_log: {sample: 0.5}
    routes:
      - {name: api, match: {path_prefix: /api}, cache: {enabled: false}, compress: {codings: []}, limits: {rate: {requests: 0}}, access_log: {enabled: false}}
      - name: static
        match: {path_prefix: /static}
        origin: img
        admission: {policy: second-hit}
        cache: {default_ttl: 1h, keep_cookies: [session], key: {headers: [Accept-Language], only_query: [v]}}
        access: {allow: all, deny: [10.2.0.0/16], basic_auth: {enabled: false}}
        headers: {request: {set: {X-Site: null, X-Gone: null, X-Q: q, x-b: other}, remove: [X-D, X-C*]}}
        error_pages: {404: null, 403: 403.html}
      - {name: old, match: {path: /old}, redirect: {to: "https://shop.example.com/new"}}
      - {name: open, match: {path: /open}, access: {deny: none}, admission: {more_than: 4}}
`)
	const hosts = `hosts: [shop.example.com, "*.shop.example.com"]`
	const pages, auth, fields = `{404: 404.html, 5xx: sorry.html}`, `basic_auth: {users_file: users, realm: shop}`, `{request: {set: {X-Site: shop, X-B: b, X-C: c}, remove: [X-R, X-Q]}, response: {remove: [Server]}, generated: {set: {X-Made: edge}}}`
	const common = `, idle_timeout: 7s, total_timeout: 1m, unusual_field_names: keep, intercept_errors: true`
	const whole = `, cache: {default_ttl: 5m, strip_cookies: [_ga*], key: {ignore_query: [utm_*]}, slice: 0B}, headers: ` + fields + `, error_pages: ` + pages +
		`, compress: {codings: [gzip], level: better}, limits: {rate: {requests: 5, burst: 10}}, access_log: {sample: 0.5}` + common
	flat := effective(`  - {name: shop.api, match: {` + hosts + `, path_prefix: /api}, origin: shop, cache: {enabled: false, default_ttl: 5m, strip_cookies: [_ga*], key: {ignore_query: [utm_*]}, slice: 0B}, compress: {codings: []}, limits: {rate: {requests: 0}}, access_log: {enabled: false}` + common + `,
     admission: {policy: counting, more_than: 2}, access: {allow: [10.0.0.0/8], deny: [10.1.0.0/16], ` + auth + `}, headers: ` + fields + `, error_pages: ` + pages + `}
  - {name: shop.static, match: {` + hosts + `, path_prefix: /static}, origin: img, cache: {default_ttl: 1h, keep_cookies: [session], key: {headers: [Accept-Language], only_query: [v]}, slice: 0B}` + common + `,
     admission: {policy: second-hit}, access: {allow: all, deny: [10.2.0.0/16, 10.1.0.0/16], basic_auth: {enabled: false}}, compress: {codings: [gzip], level: better},
     headers: {request: {set: {X-Gone: null, X-Q: q, x-b: other}, remove: [X-D, X-C*, X-R]}, response: {remove: [Server]}, generated: {set: {X-Made: edge}}},
     error_pages: {403: 403.html, 5xx: sorry.html}, limits: {rate: {requests: 5, burst: 10}}, access_log: {sample: 0.5}}
  - {name: shop.old, match: {` + hosts + `, path: /old}, redirect: {to: "https://shop.example.com/new"}, error_pages: ` + pages + `, access_log: {sample: 0.5},
     access: {allow: [10.0.0.0/8], deny: [10.1.0.0/16], ` + auth + `}, headers: {generated: {set: {X-Made: edge}}}, limits: {rate: {requests: 5, burst: 10}}}
  - {name: shop.open, match: {` + hosts + `, path: /open}, origin: shop, admission: {policy: counting, more_than: 4}, access: {allow: [10.0.0.0/8], deny: none, ` + auth + `}` + whole + `}
  - {name: shop, match: {` + hosts + `}, origin: shop, rewrite: {add_prefix: /v1}, admission: {policy: counting, more_than: 2}, access: {allow: [10.0.0.0/8], deny: [10.1.0.0/16], ` + auth + `}` + whole + `}
`)
	if diff := cmp.Diff(flat, nested); diff != "" {
		t.Errorf("written out -, within a route +:\n%s", diff)
	}
}

// TestRoutesWithinARouteChangeByName: a reload shows what has changed in a route within another, and that a value which it has from there has.
func TestRoutesWithinARouteChangeByName(t *testing.T) {
	of := func(ttl, slice string) *Config {
		c, err := Parse(caseFile, []byte(`origins: {a: {servers: ["http://127.0.0.1:1"]}}
routes:
  - {name: a, origin: a, cache: {default_ttl: `+ttl+`}, routes: [{name: b, match: {path_prefix: /b}, cache: {slice: `+slice+`}}]}
`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := []Change{
		{"routes[a.b].cache.default_ttl", "1m", "2m", true}, {"routes[a.b].cache.slice", "1MiB", "2MiB", true}, {"routes[a].cache.default_ttl", "1m", "2m", true},
	}
	if diff := cmp.Diff(want, Changes(of("1m", "1MiB"), of("2m", "2MiB"))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestAnEmptyRedirectLostTheRulesAround: redirect or respond without content is none, and such a route asks its origin by the rules of the route around.
func TestAnEmptyRedirectLostTheRulesAround(t *testing.T) {
	for _, empty := range []string{"redirect: ", "redirect: {}", "respond: {}", "origin: a, respond: {status: 0}"} {
		c, err := Parse(caseFile, []byte(`origins: {a: {servers: ["http://127.0.0.1:1"]}}
routes:
  - name: a
    match: {hosts: [a.example]}
    origin: a
    headers: {request: {only: [Accept], remove: [X-R]}}
    cache: {enabled: false}
    routes: [{name: b, match: {path: /b}, `+empty+`}]
`))
		if err != nil {
			t.Fatalf("%s: %v", empty, err)
		}
		if r := &c.Routes[0]; r.Name != "a.b" || r.Origin != "a" || len(r.Headers.Request.Only) != 1 || len(r.Headers.Request.Remove) != 1 || r.Cache.Enabled {
			t.Errorf("%s: got %+v", empty, r)
		}
	}
}

// TestARouteWithinThatLiftsAccessIsNamed: check names the routes that are more open than what is around them.
func TestARouteWithinThatLiftsAccessIsNamed(t *testing.T) {
	c, err := Parse(caseFile, []byte(`origins: {a: {servers: ["http://127.0.0.1:1"]}}
routes:
  - name: a
    match: {hosts: [a.example]}
    origin: a
    access: {allow: [10.0.0.0/8], deny: [10.1.0.0/16], basic_auth: {users_file: users}}
    routes:
      - {name: b, match: {path: /b}, access: {allow: all}}
      - {name: c, match: {path: /c}, access: {deny: none, basic_auth: {enabled: false}}}
      - {name: d, match: {path: /d}, access: {deny: [10.2.0.0/16]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Lifted{{"a.b", []string{"allow"}}, {"a.c", []string{"deny", "basic_auth"}}}, c.Lifted()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestNullOverARemovalOfTheRouteAround: null under set takes a name out of remove, as it does with remove at the top.
func TestNullOverARemovalOfTheRouteAround(t *testing.T) {
	c, err := Parse(caseFile, []byte(`origins: {a: {servers: ["http://127.0.0.1:1"]}}
routes:
  - name: a
    origin: a
    headers: {request: {remove: [X-A, X-B]}}
    routes: [{name: b, match: {path: /b}, headers: {request: {set: {x-a: null}}}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Routes[0].Headers.Request; len(got.Remove) != 1 || got.Remove[0] != "X-B" || len(got.Set) != 0 {
		t.Errorf("got %+v", got)
	}
}
