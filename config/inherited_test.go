package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const topOfFile = `origins: {app: {servers: ["http://h"]}}
total_timeout: 10m
access: {allow: [10.0.0.0/8], deny: [10.9.0.0/16], basic_auth: {users_file: staff, realm: staff}}
error_pages: {404: missing.html, 5xx: sorry.html}
allow_ambiguous_path: true
headers:
  request: {remove: [X-Debug], set: {X-Edge: "1", Authorization: secret-of-all, X-Own: "v-${PASSWORD}"}}
  response: {remove: [Server, "X-Internal-*"], set: {X-Frame-Options: DENY, X-Internal-Id: a, X-Other: b}}
  generated: {set: {Strict-Transport-Security: max-age=1, X-Id: "{request_id}"}}
`

// inForceAt returns what the only route of a file has, whose keys besides name and origin these are.
func inForceAt(t *testing.T, top, route string) *Config {
	t.Helper()
	c, err := parse(caseFile, []byte(top+"routes: [{name: a, origin: app, "+route+"}]\n"), Flags{}, environment)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a route says goes before what stands at the top, name by name. In nginx a single add_header, or
// error_page, of a location drops all that it would have had.
func TestRoutesInheritNameByName(t *testing.T) {
	base := inForceAt(t, topOfFile, "match: {path: /a}").Routes[0].Inherited
	want := Inherited{
		TotalTimeout: 600e9, AllowAmbiguousPath: true,
		Access:     Access{Allow: networksOf("10.0.0.0/8"), Deny: networksOf("10.9.0.0/16"), BasicAuth: BasicAuth{true, "staff", "staff"}},
		ErrorPages: map[string]string{"404": "missing.html", "5xx": "sorry.html"},
		Headers: Headers{
			RequestRules{FieldRules: FieldRules{[]string{"X-Debug"}, map[string]string{"X-Edge": "1", "Authorization": "secret-of-all", "X-Own": "v-hunter2"}}},
			FieldRules{[]string{"Server", "X-Internal-*"}, map[string]string{"X-Frame-Options": "DENY", "X-Internal-Id": "a", "X-Other": "b"}},
			GeneratedFields{map[string]string{"Strict-Transport-Security": "max-age=1", "X-Id": "{request_id}"}},
		},
	}
	if diff := cmp.Diff(want, base, ignoreOwn); diff != "" {
		t.Fatalf("a route that says nothing: want -, got +:\n%s", diff)
	}
	f := func(route string, change func(*Inherited)) {
		t.Helper()
		want := base
		change(&want)
		if diff := cmp.Diff(want, inForceAt(t, topOfFile, route).Routes[0].Inherited, ignoreOwn); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", route, diff)
		}
	}
	f("total_timeout: 0s", func(h *Inherited) { h.TotalTimeout = 0 })
	f("allow_ambiguous_path: false", func(h *Inherited) { h.AllowAmbiguousPath = false })
	f("unusual_field_names: keep", func(h *Inherited) { h.UnusualNames = true })
	f("access: {allow: [192.0.2.1]}", func(h *Inherited) { h.Access.Allow = networksOf("192.0.2.1/32") })
	f("access: {allow: all}", func(h *Inherited) { h.Access.Allow = nil })
	f("access: {deny: [192.0.2.1]}", func(h *Inherited) { h.Access.Deny = networksOf("192.0.2.1/32", "10.9.0.0/16") })
	f("access: {deny: none}", func(h *Inherited) { h.Access.Deny = nil })
	f("access: {basic_auth: {realm: own}}", func(h *Inherited) { h.Access.BasicAuth.Realm = "own" })
	f("access: {basic_auth: {users_file: own}}", func(h *Inherited) { h.Access.BasicAuth.UsersFile = "own" })
	f("access: {basic_auth: {enabled: false}}", func(h *Inherited) { h.Access.BasicAuth.Enabled, h.Access.BasicAuth.UsersFile = false, "" })
	if got := inForceAt(t, "origins: {app: {servers: [\"http://h\"]}}\naccess: {basic_auth: {enabled: false}}\n", "access: {basic_auth: {users_file: own}}"); got.Routes[0].Access.BasicAuth != (BasicAuth{true, "own", "restricted"}) {
		t.Errorf("users of a route below enabled: false: got %+v", got.Routes[0].Access.BasicAuth)
	}
	f("error_pages: {404: own.html, 503: busy.html}", func(h *Inherited) {
		h.ErrorPages = map[string]string{"404": "own.html", "503": "busy.html", "5xx": "sorry.html"}
	})
	f("error_pages: {404: null, 5xx: null}", func(h *Inherited) { h.ErrorPages = nil })
	f("headers: {request: {remove: [X-Own], set: {x-edge: \"2\"}}}", func(h *Inherited) {
		h.Headers.Request.FieldRules = FieldRules{[]string{"X-Own", "X-Debug"}, map[string]string{"x-edge": "2", "Authorization": "secret-of-all"}}
	})
	f("headers: {request: {only: [Accept*]}}", func(h *Inherited) { h.Headers.Request.Only = []string{"Accept*"} })
	if got := inForceAt(t, "origins: {app: {servers: [\"http://h\"]}}\nheaders: {request: {only: [Cookie]}}\n", "match: {path: /a}").Routes[0].Headers.Request.Only; !slices.Equal(got, []string{"Cookie"}) {
		t.Errorf("only fields at the top: got %q", got)
	}
	f("headers: {response: {remove: [x-internal-*, server], set: {X-Other: null}}}", func(h *Inherited) {
		h.Headers.Response = FieldRules{[]string{"x-internal-*", "server"}, map[string]string{"X-Frame-Options": "DENY"}}
	})
	f("headers: {response: {set: {Server: own, X-Internal-*: null}}}", func(h *Inherited) {
		h.Headers.Response = FieldRules{nil, map[string]string{"X-Frame-Options": "DENY", "X-Internal-Id": "a", "X-Other": "b", "Server": "own"}}
	})
	f("headers: {generated: {set: {x-id: \"7\", X-Own: own, strict-transport-security: null}}}", func(h *Inherited) {
		h.Headers.Generated = GeneratedFields{map[string]string{"x-id": "7", "X-Own": "own"}}
	})
	f("headers: {generated: {set: {Strict-Transport-Security: null, X-Id: null}}}", func(h *Inherited) { h.Headers.Generated = GeneratedFields{} })
}

func TestWhatRoutesInheritIsPrinted(t *testing.T) {
	c := inForceAt(t, topOfFile, "access: {allow: all, basic_auth: {enabled: false}}, error_pages: {404: null, 503: busy.html}, headers: {request: {set: {X-Edge: null}}}")
	checkEffective(t, c)
	text, err := c.Effective()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n    access:\n      allow: all\n      basic_auth: {enabled: false}\n    error_pages: {404: null, 503: busy.html}\n    headers:\n      request: {set: {X-Edge: null}}\n",
		"\n    # in force: {total_timeout: 10m, access: {deny: [\"10.9.0.0/16\"], basic_auth: {enabled: false, realm: staff}}, error_pages: {503: busy.html, 5xx: sorry.html}, ",
		"request: {remove: [X-Debug], set: {Authorization: \"***\", X-Own: \"***\"}}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, secret := range []string{"hunter2", "secret-of-all"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in\n%s", secret, text)
		}
	}
	if diff := cmp.Diff([]Lifted{{"a", []string{"allow", "basic_auth"}}}, c.Lifted()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if text, err := inForceAt(t, "origins: {app: {servers: [\"http://h\"]}}\n", "access: {allow: all}").Effective(); err != nil || strings.Contains(text, "in force:") {
		t.Errorf("nothing stands at the top: got %v and\n%s", err, text)
	}
}

func TestChangesOfWhatRoutesInherit(t *testing.T) {
	file := func(top, route string) string {
		return "origins: {app: {servers: [\"http://h\"]}}\n" + top + "\nroutes: [{name: a, origin: app, match: {path: /a}" + route + "}, {name: b, origin: app}]\n"
	}
	f := func(from, to string, want ...string) {
		t.Helper()
		if got := changed(t, from, to); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
	f(file("access: {allow: [10.0.0.0/8]}\ntotal_timeout: 1m", ""), file("access: {allow: [10.0.0.0/8]}\ntotal_timeout: 2m", ", access: {allow: all}, total_timeout: 0s"),
		"routes[a].total_timeout:  -> 0s (live)", "routes[a].access.allow:  -> all (live)", "total_timeout: 1m -> 2m (live)")
	f(file("error_pages: {404: a.html}", ""), file("error_pages: {404: a.html, 500: b.html}", ", error_pages: {404: null}"),
		"routes[a].error_pages:  -> {404: null} (live)", "error_pages: {404: a.html} -> {404: a.html, 500: b.html} (live)")
	f(file("headers: {request: {set: {X-A: a}}}", ", headers: {request: {set: {X-A: null}}}"), file("headers: {request: {set: {X-A: a}}}", ""),
		"routes[a].headers.request.set: {X-A: null} ->  (live)")
	f(file("headers: {generated: {set: {X-A: a}}}", ""), file("headers: {generated: {set: {X-A: b}}}", ", headers: {generated: {set: {X-A: null}}}"),
		"routes[a].headers.generated.set:  -> {X-A: null} (live)", "headers.generated.set: {X-A: a} -> {X-A: b} (live)")
}
