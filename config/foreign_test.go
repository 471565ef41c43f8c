package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documented returns the paths of all settings, also of sections.
func documented() map[string]bool {
	all := map[string]bool{}
	new(Config).table().walkNames("", func(path string, _ row) { all[path] = true })
	return all
}

// An answer with a setting that is gone would send the operator on to the next error.
func TestAnswersToNamesOfOthersNameSettingsThatExist(t *testing.T) {
	settings := documented()
	path := regexp.MustCompile(`[a-z_]+(\.\*|\[\])?(\.[a-z_]+(\[\])?)+|\b[a-z]+_[a-z_]+\b`)
	words := map[string]bool{"least_connections": true} // values
	for name, text := range foreignNames {
		if !strings.HasPrefix(text, "use ") && !strings.HasPrefix(text, "leave it out: ") {
			t.Errorf("%s: got %q, want what to write", name, text)
		}
		named := 0
		for _, p := range path.FindAllString(text, -1) {
			if named++; !settings[p] && !words[p] {
				t.Errorf("%s: %q names %s, which is no setting", name, text, p)
			}
		}
		for _, word := range []string{"origins", "routes", "listen", "compress", "admission", "include", "log", "cache", "limits", "headers"} {
			if regexp.MustCompile(`\b` + word + `\b`).MatchString(text) {
				named++
			}
		}
		if named == 0 {
			t.Errorf("%s: %q names no setting", name, text)
		}
	}
}

// A name in the table that is a setting in its section would never be looked up.
func TestNamesOfOthersAreNotOurs(t *testing.T) {
	settings := documented()
	for _, name := range slices.Sorted(maps.Keys(foreignNames)) {
		if section, _, below := strings.Cut(name, "."); settings[name] && (below || section == name) {
			t.Errorf("%s is a setting", name)
		}
		if name != strings.ToLower(name) || strings.Contains(name, "-") {
			t.Errorf("%s: want it as it is looked up", name)
		}
	}
}

// Each former name is an error at its place, in a route too, and the error names a setting that there is.
func TestAFormerNameIsAnsweredWithTheNewOne(t *testing.T) {
	settings := documented()
	for old, now := range renamedNames {
		if settings[old] || !settings[now] {
			t.Errorf("%s: a setting %v, and %s %v; want false, true", old, settings[old], now, settings[now])
		}
		sections := strings.Split(old, ".")
		text, last := "1", len(sections)-1
		for i := last; i > 0; i-- {
			text = "{" + sections[i] + ": " + text + "}"
		}
		column := len(strings.Join(sections[:last], ": {")) + len(": {") + 1
		at := caseFile + ":2:" + strconv.Itoa(column) + ": " + old
		if got := said("origins: {app: {servers: [\"http://h\"]}}\n" + sections[0] + ": " + text + "\n"); !strings.Contains(got, at+": unknown key: it is called "+now+" now") {
			t.Errorf("got %s, want the new name at %s", got, at)
		}
	}
	if len(renamedNames) == 0 {
		t.Error("no names")
	}
}

func TestNamesOfOthers(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parse(caseFile, []byte(text), Flags{}, environment)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	const one = "origins: {app: {servers: [\"http://h\"]}}\n"
	f(one+"cache: {ttl: 1h}", "2:9: cache.ttl: unknown key, use cache.default_ttl")
	f(one+"routes: [{name: a, origin: app, cache: {ttl: 1h}}]", "routes[0].cache.ttl: unknown key, use cache.default_ttl")
	f(one+"cache: {max-size: 1GB}", "unknown key, use cache.memory.max_bytes or cache.disk.max_bytes")
	f(one+"cache: {grace: 1h}", "unknown key, use cache.stale.while_revalidate")
	f(one+"cache: {disk: {size: 1GiB}}", "cache.disk.size: unknown key, use cache.disk.max_bytes")
	f("upstream: {app: {server: \"h:1\"}}", "upstream: unknown key, use origins")
	f("upstreams: {app: {}}", "unknown key, use origins")
	f("backend: {}", "unknown key, use origins")
	f("backends: {}", "unknown key, use origins")
	f("frontend: {}", "unknown key, use listen")
	f("origins: {app: {server: \"http://h\"}}", "unknown key, did you mean servers?")
	f("origins: {app: {servers: [\"http://h\"], max_fails: 3}}", "unknown key, use origins.*.ejection.failures")
	f("origins: {app: {servers: [\"http://h\"], keepalive: 3}}", "unknown key, leave it out: connections are kept")
	f(one+"routes: [{name: a, proxy_pass: \"http://h\"}]", "routes[0].proxy_pass: unknown key, use origins.*.servers for the address, routes[].origin")
	f(one+"routes: [{name: a, reverse_proxy: h}]", "unknown key, use origins.*.servers")
	f(one+"routes: [{name: a, location: /x}]", "unknown key, use routes[].match.path")
	f(one+"routes: [{name: a, backend: app}]", "unknown key, use origins for what is behind, routes[].origin")
	f(one+"routes: [{name: a, server_name: h}]", "unknown key, use routes[].match.hosts")
	f(one+"routes: [{name: a, host: h}]", "unknown key, use routes[].match.hosts")
	f(one+"routes: [{name: a, match: {prefix: /}}]", "unknown key, use routes[].match.path_prefix")
	f(one+"proxy_cache_valid: {200: 1h}", "unknown key, use cache.ttl_by_status")
	f(one+"proxy_cache_min_uses: 2", "unknown key, use admission.policy")
	f(one+"admission: {min_uses: 3}", "unknown key, use admission.counting.more_than")
	f(one+"proxy_cache_use_stale: error", "unknown key, use cache.stale.origin_failure")
	f(one+"client_max_body_size: 1m", "unknown key, use limits.body_bytes")
	f(one+"limits: {client_max_body_size: 1m}", "unknown key, use limits.body_bytes")
	f(one+"gzip: on", "unknown key, use compress.codings: [gzip]")
	f(one+"server: {listen: 80}", "unknown key, use listen for an address of ours")
	f(one+"proxy.config.cache.ram_cache.size: 1G", "unknown key, use cache.memory.max_bytes")
	f(one+"cahce: {}", "unknown key, did you mean cache?")
	f(one+"http: {}", "unknown key, use the settings in it at the top of the file")
	f(one+"import: sites", "unknown key, use include")
	f(one+"routes: [{name: a, origin: app, headers: {own: {}}}]", "2:43: routes[0].headers.own: unknown key: it is called headers.generated now")
	f(one+"limits: {Read-Idle: 1s}", "2:10: limits.Read-Idle: unknown key: it is called limits.read_idle_timeout now")
}
