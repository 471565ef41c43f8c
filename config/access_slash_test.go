package config

import (
	"strings"
	"testing"
)

// TestASlashLedPastTheAccessOfAWholePath: a route closed /admin, the one for all paths passed /admin/ on, which many origins serve as /admin, and
// check said nothing.
func TestASlashLedPastTheAccessOfAWholePath(t *testing.T) {
	const head = "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nroutes:\n"
	const rest = "  - {name: rest, origin: app}\n"
	f := func(routes string, want ...string) {
		t.Helper()
		c, err := Parse("edge.yaml", []byte(head+routes))
		if err != nil {
			t.Fatalf("%s: %v", routes, err)
		}
		var got []string
		for _, w := range c.Warnings() {
			if strings.HasPrefix(w.Text, "closes ") {
				path, _, _ := strings.Cut(w.Text, " on to clients")
				got = append(got, w.Path+": "+path)
			}
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%s: got warnings %q, want %q", routes, got, want)
		}
	}
	const closed = "origin: app, access: {allow: [10.0.0.0/8]}}\n"
	f("  - {name: a, match: {path: /admin}, "+closed+rest, "routes[0].match.path: closes /admin, but route rest passes /admin/")
	f("  - {name: a, match: {path: /admin/}, "+closed+rest, "routes[0].match.path: closes /admin/, but route rest passes /admin")
	f("  - {name: a, match: {path: [/x, /admin, /x/]}, "+closed+rest, "routes[0].match.path[1]: closes /admin, but route rest passes /admin/")
	f("  - {name: a, match: {path: /admin}, origin: app, access: {deny: [203.0.113.0/24]}}\n"+rest, "routes[0].match.path: closes /admin, but route rest passes /admin/")
	f("  - {name: a, match: {path: /admin}, origin: app, access: {basic_auth: {users_file: u}}}\n"+rest, "routes[0].match.path: closes /admin, but route rest passes /admin/")
	f("  - {name: a, match: {path: /admin}, respond: {status: 403}}\n"+rest, "routes[0].match.path: closes /admin, but route rest passes /admin/")
	f("  - {name: early, match: {path_suffix: /}, origin: app}\n  - {name: a, match: {path: /admin}, "+closed, "routes[1].match.path: closes /admin, but route early passes /admin/")
	f("  - {name: b, match: {hosts: [b.example], path_prefix: /admin}, "+closed+"  - {name: a, match: {path: /admin}, "+closed+rest, "routes[1].match.path: closes /admin, but route rest passes /admin/")

	// What is as closed, asks no origin, or has other requests is no way round.
	f("  - {name: a, match: {path: /admin}, " + closed + "  - {name: all, match: {path_prefix: /admin}, " + closed + rest)
	f("  - {name: a, match: {path: /admin}, " + closed + "  - {name: all, match: {path_prefix: /admin}, origin: app, access: {allow: [10.1.0.0/16]}}\n" + rest)
	f("  - {name: a, match: {path: /admin}, " + closed + "  - {name: none, respond: {status: 404}}\n")
	f("  - {name: a, match: {path: /admin}, " + closed + "  - {name: moved, redirect: {to: \"/new\"}}\n")
	f("  - {name: a, match: {path: /admin}, " + closed)
	f("  - {name: a, match: {path: /}, " + closed + rest)
	f("  - {name: a, match: {path: /admin}, origin: app}\n" + rest)
	f("  - {name: a, match: {hosts: [a.example], path: /admin}, " + closed + "  - {name: b, match: {hosts: [b.example]}, origin: app}\n")
	f("  - {name: a, match: {methods: [POST], path: /admin}, " + closed + "  - {name: b, match: {methods: [GET]}, origin: app}\n")
	f("  - {name: a, match: {scheme: http, path: /admin}, " + closed + "  - {name: b, match: {scheme: https}, origin: app}\n")

	// It is more open in part: other networks, users of another file.
	f("  - {name: a, match: {path: /admin}, "+closed+"  - {name: rest, origin: app, access: {allow: [10.0.0.0/8, 192.0.2.0/24]}}\n", "routes[0].match.path: closes /admin, but route rest passes /admin/")
	f("  - {name: a, match: {path: /admin}, origin: app, access: {basic_auth: {users_file: u}}}\n  - {name: rest, origin: app, access: {basic_auth: {users_file: v}}}\n",
		"routes[0].match.path: closes /admin, but route rest passes /admin/")
}
