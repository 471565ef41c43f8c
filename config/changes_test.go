package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// changed returns the changes between two files, a line each.
func changed(t *testing.T, from, to string) string {
	t.Helper()
	read := func(text string) *Config {
		c, err := parse(caseFile, []byte(text), Flags{}, environment)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var lines []string
	for _, c := range Changes(read(from), read(to)) {
		when := "restart"
		if c.Live {
			when = "live"
		}
		lines = append(lines, fmt.Sprintf("%s: %s -> %s (%s)", c.Path, c.Old, c.New, when))
	}
	return strings.Join(lines, "\n")
}

func TestChanges(t *testing.T) {
	check := func(name, from, to string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			if got := changed(t, from, to); got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
	const app = "origins: {app: {servers: [\"http://h\"]}}\n"
	check("nothing", everyKey, everyKey)
	check("a default written out", app, app+"limits: {ranges: 16}\nroutes: [{name: default, origin: app}]\n")
	check("a limit and a size", app, app+"limits: {read_idle_timeout: 1m, connections: 9}\ncache: {memory: {max_bytes: 1GiB}}\n",
		"cache.memory.max_bytes: 256MiB -> 1GiB (restart)", "limits.read_idle_timeout: 30s -> 1m (live)", "limits.connections: 65536 -> 9 (restart)")
	evicts := func(by string) string { return app + "cache: {memory: {eviction: " + by + "}}\n" }
	check("the eviction without content", evicts("recency"), app+"cache: {memory: {optimise: hits}}\n",
		"cache.memory.eviction: recency -> size-aware (live)", "cache.memory.optimise: balanced -> hits (live)")
	check("the eviction with content", evicts("ristretto"), app, "cache.memory.eviction: ristretto -> size-aware (restart)")
	const disk = app + "cache: {disk: {path: /d, max_bytes: 1GiB}}\n"
	check("a disk comes", app, disk, `cache.disk.path: "" -> "/d" (restart)`, "cache.disk.max_bytes: 10GiB -> 1GiB (restart)", "cache.disk.max_object_bytes: 1GiB -> 128MiB (restart)")
	check("a disk is set otherwise", disk, app+"cache: {disk: {path: /d, max_bytes: 1GiB, min_free: 1GiB, write_rate: 1MB/s}}\n",
		"cache.disk.min_free: 5% -> 1GiB (restart)", "cache.disk.write_rate: 0B/s -> 1000000B/s (restart)")
	check("servers", app, "origins: {app: {servers: [{url: \"http://h\", weight: 2}, \"https://i:8443\"], queue: {wait: 1s}}}\n",
		`origins.app.servers: ["http://h"] -> [{url: "http://h", weight: 2}, "https://i:8443"] (live)`, "origins.app.queue.wait: 3s -> 1s (live)")
	check("an origin and a route come", app, "origins: {app: {servers: [\"http://h\"]}, new: {servers: [\"http://n\"]}}\n"+
		"routes: [{name: late, origin: new, match: {hosts: [\"*.n:81\"]}, cache: {default_ttl: 0s}}, {name: default, origin: app}]\n",
		`origins.new:  -> {servers: ["http://n"]} (live)`,
		`routes[late]:  -> {name: late, match: {hosts: ["*.n:81"]}, origin: new, cache: {default_ttl: 0s}} (live)`)
	check("an origin goes", "origins: {a.b: {servers: [\"http://h\"]}}\n", app,
		`origins["a.b"]: {servers: ["http://h"]} ->  (live)`, `origins.app:  -> {servers: ["http://h"]} (live)`, "routes[default].origin: a.b -> app (live)")
	routes := func(list string) string { return app + "routes: [" + list + "]\n" }
	check("another order", routes("{name: a, origin: app}, {name: b, origin: app}, {name: c, origin: app}"),
		routes("{name: c, origin: app}, {name: a, origin: app}, {name: d, origin: app}"),
		"routes[b]: {name: b, origin: app} ->  (live)", "routes[d]:  -> {name: d, origin: app} (live)", "routes: [a], [c] -> [c], [a] (live)")
	suffix := func(value string) string {
		return routes("{name: a, origin: app, match: {path_suffix: " + value + "}}")
	}
	check("a list of one", suffix(".js"), suffix("[.js]"))
	check("a list", suffix(".js"), suffix("[.js, .css]"), `routes[a].match.path_suffix: ".js" -> [".js", ".css"] (live)`)
	check("a setting of one route", routes("{name: a, origin: app, cache: {slice: 1MiB, stale: {keep: 1h}}}"),
		routes("{name: a, origin: app, cache: {slice: 0B}, admission: {policy: never}, limits: {rate: {requests: 5}}}"),
		"routes[a].admission.policy:  -> never (live)", "routes[a].cache.stale.keep: 1h ->  (live)", "routes[a].cache.slice: 1MiB -> 0B (live)", "routes[a].limits.rate.requests:  -> 5 (live)")
	check("what all routes have is one change", app+"cache: {default_ttl: 1s}\n", app, "cache.default_ttl: 1s -> 0s (live)")
	lot := func(p string) string {
		return app + "admission: {policy: chance, chance: {probability: " + p + "}, shadow: [{policy: chance}, {policy: always}]}\n"
	}
	check("the lot of a shadow, which nothing but another setting has changed", lot("0.2"), lot("0.3"),
		"admission.shadow: [{policy: chance}, {policy: always}] at probability 0.2 -> [{policy: chance}, {policy: always}] at probability 0.3 (restart)",
		"admission.chance.probability: 0.2 -> 0.3 (live)")
	check("listeners", app, app+"listen: [{address: \":80\", trusted_proxies: [10.0.0.0/8]}, {address: \":81\"}]\n",
		`listen[0].address: "127.0.0.1:8080" -> ":80" (restart)`, `listen[0].trusted_proxies: [] -> ["10.0.0.0/8"] (live)`, `listen[1]:  -> {address: ":81"} (restart)`)
	check("a window", app, app+"admission: {second_hit: {capacity: 5}}\n",
		"admission.second_hit.window: auto -> fixed (restart)", "admission.second_hit.rotate_every: 0s -> 30m (restart)", "admission.second_hit.capacity: 0 -> 5 (restart)")
}

func TestChangesShowNoSecrets(t *testing.T) {
	file := func(token, value string) string {
		return "origins: {app: {servers: [\"http://h\"]}}\nadmin: {token: " + token + "}\n" +
			"routes: [{name: a, origin: app, headers: {request: {set: {Authorization: " + value + ", X-Own: \"${PASSWORD}\", X-Edge: one}}}}]\n"
	}
	got := changed(t, file("first-token-of-all", "first"), file("second-token-of-all", "second"))
	const set = `{Authorization: "***", X-Edge: one, X-Own: "***"}`
	want := `admin.token: "***" -> "***" (live)` + "\nroutes[a].headers.request.set: " + set + " -> " + set + " (live)"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRestartChangesAreThoseOfChanges: live settings beside them make no difference.
func TestRestartChangesAreThoseOfChanges(t *testing.T) {
	from, err := Parse(caseFile, []byte("origins: {app: {servers: [\"http://h\"]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"origins: {app: {servers: [\"http://h\"]}}\n", everyKey,
		"origins: {new: {servers: [\"http://n\"]}}\nlisten: [{address: \":80\", trusted_proxies: [10.0.0.0/8]}, {address: \":81\"}]\ncache: {default_ttl: 1s, memory: {max_bytes: 1GiB}}\n",
	} {
		to, err := parse(caseFile, []byte(text), Flags{}, environment)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(Changes(from, to), func(c Change) bool { return c.Live })
		if got := RestartChanges(from, to); !slices.Equal(got, want) {
			t.Errorf("got\n%v\nwant\n%v", got, want)
		}
	}
}
