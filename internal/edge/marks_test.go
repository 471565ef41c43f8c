package edge

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"edgeproxy/config"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/dial"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/test/testkit"
)

// instead are values for settings of the file that cannot be left out. "" leaves it to edits.
var instead = map[string]string{
	"listen[0].address": `"unix:/run/other.sock"`, "listen[1].address": `"127.0.0.1:8"`, "listen[2].address": `"127.0.0.1:7"`,
	"listen[0].trusted_proxies": "[10.0.0.0/9]", "listen[0].proxy_protocol": "", "admin.address": `"unix:/run/other.sock"`,
	"tls.certificates[0].certificate": "edge.pem", "tls.certificates[0].key": "edge.key",
	"tls.acme.names": "[www.example.com]", "tls.acme.accept_terms": "", "tls.acme.storage": "other",
	"routes[0].access.basic_auth.users_file": "others", "access.basic_auth.users_file": "others", "access.basic_auth.enabled": "",
	"headers.response.set":  "{X-Content-Type-Options: other, X-New: a}",
	"headers.generated.set": "{Strict-Transport-Security: max-age=2, X-Own: other}",
	"origins.shop.servers":  `["https://10.0.0.2:9001"]`, "origins.media.servers": `["https://other.example"]`, "origins.unverified.servers": "[https://v]",
	"origins.shop.servers[0].url": `"https://10.0.0.1:9009"`, "origins.shop.health.path": "/other", "origins.shop.tls.certificate": "", "origins.shop.tls.key": "",
	"routes[0].name": "a", "routes[1].name": "b", "routes[2].name": "c", "routes[3].name": "d", "routes[4].name": "e", "routes[5].name": "f", "routes[6].name": "g",
	"routes[0].origin": "shop", "routes[1].origin": "media", "routes[2].origin": "media", "routes[3].origin": "media", "routes[4].origin": "media", "routes[0].admission.policy": "", "routes[2].admission.policy": "never",
	"routes[5].redirect.to": "https://{host}/", "routes[6].respond.status": "404", "routes[0].cache.no_vary_search": "false", "routes[0].cache.store_post_answers": "false", "routes[0].cache.key.ignore_query": "",
	"admission.policy": "never", "admission.second_hit.window": "", "admission.shadow": "[{policy: always}]",
	"metrics.top.entries": "7", "limits.spool_path": "other", "cache.disk.path": "other", "cache.disk.max_bytes": "30GiB", "cache_status.send": "", "access_log.path": "other.log", "access_log.format": "", "access_log.template": "\"{host}\"",
	"tracing.endpoint":           "https://other.example",
	"routes[0].compress.codings": "", "routes[1].cache.slice": "", "routes[2].cache.slice": "", "routes[3].cache.slice": "", "routes[4].cache.slice": "", // codings stand beside no slice
}

// hashOfX is bcrypt's of x.
const hashOfX = "$2y$05$abcdefghijklmnopqrstuuhKF09ZYWwH2zP/0fwE1X8e/Q1YNx/hO"

// edits change what one setting alone cannot.
var edits = [][2]string{
	{"cache_status: {send: trusted, trusted: [10.0.0.0/8]}", "cache_status: {send: none}"},
	{"{enabled: true, users_file: staff, realm: staff}", "{enabled: false}"},
	{"key: {ignore_query: [], only_query: [r], ", "key: {ignore_query: [r], "},
	{"slice: 64KiB}\n    compress: {codings: []}", "slice: 0B}\n    compress: {codings: [gzip]}"},
	{"format: template, template: \"{client} {target}\", ", "format: combined, "},
	{"policy: counting, more_than: 6", "policy: second-hit"},
	{"certificate: edge.pem, key: edge.key", "certificate: c.pem, key: k.pem"},
	{"window: fixed, generations: 3, rotate_every: 31m, capacity: 1000001, ", "window: auto, "},
	{"    trusted_proxies: [10.0.0.0/8, \"2001:db8::1\"]\n    proxy_protocol: true\n", ""},
}

// everySetting are the settings of a file that has them all, each with another value than
// its default, and that file beside what it names.
func everySetting(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../config/testdata/every.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"trusted_proxies: []\n": "trusted_proxies: [10.1.0.0/16]\n  - {address: \"127.0.0.1:9\", tls: true}\n",
		"  - name: shop\n": "  - {name: counted, match: {path_prefix: /c}, origin: shop, cache: {slice: 0B}, admission: {policy: counting}}\n" +
			"  - {name: twice, match: {path_prefix: /t}, origin: shop, cache: {slice: 0B}, admission: {policy: second-hit}}\n  - name: shop\n", // for the sections of policies
		"\n    admission: {policy: counting}\n": "\n    admission: {policy: chance}\n",
		`"http://10.0.0.2:9001"`:                `"http://shop.internal:9001"`, // resolve is about names
	} {
		text = replaced(t, text, from, to)
	}
	t.Chdir(t.TempDir())
	authority := testkit.NewAuthority(t)
	testkit.WritePair(t, authority.Good("a.example"), "edge.pem", "edge.key")
	testkit.WritePair(t, authority.Good("b.example"), "c.pem", "k.pem")
	pem, err := os.ReadFile("edge.pem")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"ca.pem": string(pem), "roots.pem": string(pem), "token": "a-token-of-the-test-for-all", "users": "ann:" + hashOfX, "others": "bob:" + hashOfX, "staff": "cat:" + hashOfX, "denied.html": "<p>no", "all.html": "<p>all", "gone.html": "<p>gone", "sorry.txt": "sorry", "secret": strings.Repeat("s", 40)} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func replaced(t *testing.T, text []byte, from, to string) []byte {
	t.Helper()
	if bytes.Count(text, []byte(from)) != 1 {
		t.Fatalf("got %d times in the file, want once: %s", bytes.Count(text, []byte(from)), from)
	}
	return bytes.Replace(text, []byte(from), []byte(to), 1)
}

// inForce is all that a configuration puts in force while the process runs by another one.
type inForce struct {
	Live     proxy.Live
	Origin   []string     // the origin of each route
	Headers  []field.List // what its rules make of a head
	Origins  []origin.Options
	Followed []dial.Query // the names that are looked up for servers
	TLS      []string     // the TLS settings of the origins
	Hosts    []string
	Token    string
	Sends    bool // whether edges with the secret get sightings
	Profiles bool
	Trusted  [][]netip.Prefix
	Livez    []bool
	Level    string
	Files    []config.Certificate
	Others   []any // settings that are read from the configuration in force when they are needed
}

// reloaded returns what a reload of c puts in force in e, by the functions that apply uses.
func reloaded(t *testing.T, e *Edge, c *config.Config) (f inForce) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var origins []liveOrigin
	names := map[*origin.Origin]string{}
	for i := range c.Origins {
		o, err := originOptions(c, &c.Origins[i])
		must(err)
		for n := range o.Servers {
			f.TLS = append(f.TLS, shownTLS(o.Servers[n].TLS))
			o.Servers[n].TLS = nil
			if q, several := queryOf(&c.Origins[i], &c.Origins[i].Servers[n]); several {
				f.Followed = append(f.Followed, q)
			}
		}
		f.Origins = append(f.Origins, o)
		one := liveOrigin{config: c.Origins[i], origin: new(origin.Origin)}
		names[one.origin] = c.Origins[i].Name
		origins = append(origins, one)
	}
	rs, err := routes(c, origins)
	must(err)
	for i := range rs {
		f.Origin = append(f.Origin, names[rs[i].Origin])
		for _, rules := range []fieldrules.Rules{rs[i].Request, rs[i].Response} {
			f.Headers = append(f.Headers, rules.Apply(field.List{{Name: "X-Debug"}, {Name: "Server"}, {Name: "X-Internal-A"}, {Name: "X-All-A"}, {Name: "X-Powered-By"}}))
		}
		if a := rs[i].Answer; a != nil {
			f.Headers = append(f.Headers, a.Fields.Set())
			a.Fields = fieldrules.Rules{}
		}
		f.Headers = append(f.Headers, rs[i].Generated.Set())
		rs[i].Origin, rs[i].Request, rs[i].Response, rs[i].Generated = nil, fieldrules.Rules{}, fieldrules.Rules{}, fieldrules.Rules{}
	}
	l := &live{config: c, routes: rs}
	l.purges, err = purgeToken(c)
	must(err)
	f.Live = liveOptions(l)
	f.Headers = append(f.Headers, f.Live.Generated.Set())
	f.Live.Generated = fieldrules.Rules{}
	l.secret, err = fleetSecret(c)
	must(err)
	l.token, err = AdminToken(c)
	must(err)
	a := e.adminOptions(l)
	f.Hosts, f.Token, f.Profiles, f.Sends = a.Hosts, a.Token, a.Profiles, a.Sightings != nil
	for i, was := range e.config.Listen {
		l := listenAt(c, i, was)
		f.Trusted, f.Livez = append(f.Trusted, l.TrustedProxies), append(f.Livez, l.Livez)
	}
	f.Level, f.Files = c.Log.Level.String(), c.TLS.Certificates
	f.Others = []any{c.Admission.WarmUpBelow, c.Shutdown, c.Tracing.Target, c.Cache.Memory.Eviction, c.Cache.Memory.Optimise}
	return f
}

func shownTLS(c *tls.Config) string {
	if c == nil {
		return ""
	}
	var shown [][]byte
	for _, own := range c.Certificates {
		shown = append(shown, own.Certificate...)
	}
	return fmt.Sprint(c.RootCAs != nil, shown, c.ServerName, c.InsecureSkipVerify, c.MinVersion)
}

// TestMarksOfSettingsAreTrue: each setting of a file that has them all is left out, or gets
// another value. What is marked live is in force after a reload, and what takes a restart
// is named and changes nothing of what is in force.
func TestMarksOfSettingsAreTrue(t *testing.T) {
	testkit.Plain(t, "hundreds of reloads, one behind another")
	text := everySetting(t)
	before, err := config.Parse("edge.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	e := newEdge(before, slog.New(slog.DiscardHandler))
	was := reloaded(t, e, before)
	if !reflect.DeepEqual(was, reloaded(t, e, before)) {
		t.Fatal("the same file puts something else in force: the test would find changes everywhere")
	}
	marks := map[bool]int{}
	check := func(t *testing.T, text []byte) {
		t.Helper()
		c, err := config.Parse("edge.yaml", text)
		if err != nil {
			t.Fatalf("give it a value in instead, or an edit: %v", err)
		}
		changes := config.Changes(before, c)
		if len(changes) == 0 {
			t.Fatal("got no change: no row of the table binds it, or give it a value in instead")
		}
		live := false
		for _, change := range changes {
			marks[change.Live]++
			live = live || change.Live
		}
		if got := !reflect.DeepEqual(was, reloaded(t, e, c)); got != live {
			t.Errorf("%+v: marked live %v, and a reload puts it in force %v", changes, live, got)
		}
	}
	tried := map[string]bool{}
	every := testkit.Times(1, 8) // the quick run tries one setting of eight
	for i, s := range leaves(t, text) {
		other, has := instead[s.path]
		if tried[s.path] = true; has && other == "" || i%every != 0 {
			continue
		}
		t.Run(s.path, func(t *testing.T) { check(t, s.with(t, other)) })
	}
	for _, edit := range edits {
		t.Run(edit[1], func(t *testing.T) { check(t, replaced(t, text, edit[0], edit[1])) })
	}
	for path := range instead {
		if !tried[path] {
			t.Errorf("%s: got no such setting", path)
		}
	}
	if marks[true]*every < 100 || marks[false]*every < 40 {
		t.Errorf("got %d live changes and %d that take a restart, want more tried", marks[true], marks[false])
	}
}

// leaf is a setting of a file.
type leaf struct {
	path string
	text []byte
	at   []any // keys and places
}

// leaves returns the settings below which there are no others.
func leaves(t *testing.T, text []byte) (out []leaf) {
	t.Helper()
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, at []any, v any)
	walk = func(path string, at []any, v any) {
		at = slices.Clip(at)
		switch v := v.(type) {
		case yaml.MapSlice:
			if name := path[strings.LastIndexByte(path, '.')+1:]; name != "set" && name != "ttl_by_status" {
				for _, e := range v {
					walk(strings.TrimPrefix(path+"."+fmt.Sprint(e.Key), "."), append(at, e.Key), e.Value)
				}
				return
			}
		case []any:
			sections := path != "admission.shadow"
			for i, e := range v {
				if _, is := e.(yaml.MapSlice); is && sections {
					walk(fmt.Sprintf("%s[%d]", path, i), append(at, i), e)
					continue
				}
				sections = false
			}
			if sections && len(v) > 0 {
				return
			}
		}
		out = append(out, leaf{path, text, at})
	}
	walk("", nil, doc)
	return out
}

// with returns the file with another value of the setting, in YAML; "" leaves it out.
func (l leaf) with(t *testing.T, other string) []byte {
	t.Helper()
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(l.text, &doc, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.UnmarshalWithOptions([]byte(other), &value, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	var replace func(v any, at []any) any
	replace = func(v any, at []any) any {
		if len(at) == 0 {
			return value
		}
		switch v := v.(type) {
		case []any:
			v[at[0].(int)] = replace(v[at[0].(int)], at[1:])
			return v
		case yaml.MapSlice:
			for i := range v {
				if v[i].Key != at[0] {
					continue
				}
				if len(at) == 1 && other == "" {
					return append(v[:i:i], v[i+1:]...)
				}
				v[i].Value = replace(v[i].Value, at[1:])
			}
			return v
		}
		t.Fatalf("%s: got %T", l.path, v)
		return nil
	}
	out, err := yaml.Marshal(replace(doc, l.at))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
