package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/route/setting"
)

const oneOrigin = "origins: {web: {servers: [\"http://h\"]}}\n"

func TestFromFlags(t *testing.T) {
	c, err := FromFlags(Flags{Origin: "http://127.0.0.1:9000", Listen: ":80", Admin: "[::1]:1", Policy: "counting"})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen, want.Admin.Address, want.Admission.Policy = []Listen{{Address: ":80"}}, "[::1]:1", policy.Counting
	want.Origins = []Origin{defaultOrigin()}
	want.Origins[0].Name, want.Origins[0].Servers = "app", []Server{{Address: "127.0.0.1:9000", Weight: 1, Host: "127.0.0.1:9000"}}
	want.Routes = []Route{{Name: "default", Match: withDefaults(matchTable), Origin: "app", Rewrite: withDefaults(rewriteTable), Inherited: withDefaults((*Inherited).table), Redirect: withDefaults((*Redirect).table), Admission: policy.Rule{Policy: policy.Counting, MoreThan: 4}, Cache: want.Cache.Caching, Compress: want.Compress, Rate: want.Limits.Rate, AccessLog: setting.Log{Enabled: true, Sample: 1}}}
	if diff := cmp.Diff(want, c, ignoreOwn); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if got := c.Warnings(); len(got) > 0 {
		t.Errorf("got warnings %v, want none", got)
	}
}

func TestFlagsRefused(t *testing.T) {
	check := func(name string, f Flags, want string) {
		t.Run(name, func(t *testing.T) {
			c, err := FromFlags(f)
			if err == nil {
				t.Fatalf("got %+v, want %s", c, want)
			}
			if got := err.Error(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	const origin = "http://h"
	check("no origin", Flags{}, "--origin: is missing: name a server: http[s]://HOST[:PORT], or a file with origins")
	check("not a URL", Flags{Origin: "htp:/x"}, "--origin: htp:/x: must be http[s]://HOST[:PORT], srv+http[s]://NAME, or unix:/PATH")
	check("a password", Flags{Origin: "http://u:p@h"}, "--origin: http://***@h: must be http[s]://HOST[:PORT], without user or password")
	check("another scheme", Flags{Origin: "ftp://h"}, "--origin: ftp://h: must be http[s]://HOST[:PORT], srv+http[s]://NAME, or unix:/PATH")
	check("listen", Flags{Origin: origin, Listen: "80"}, "--listen: 80: must be HOST:PORT, such as 127.0.0.1:8080, or unix:PATH")
	check("admin", Flags{Origin: origin, Admin: ":1"},
		"--admin: :1: needs admin.token_file or admin.token beside it, or a loopback host, such as 127.0.0.1, or unix:PATH: without a token, anybody who can connect could purge")
	check("policy", Flags{Origin: origin, Policy: "third-hit"}, "--policy: third-hit: must be always, second-hit, counting, chance or never")
	check("an address that is another's default", Flags{Origin: origin, Listen: "127.0.0.1:9980"},
		"--listen: 127.0.0.1:9980: must be another address: this is the one of admin.address")
	check("no variables in flags", Flags{Origin: "http://${PORT}"}, "--origin: http://${PORT}: must be http[s]://HOST[:PORT], srv+http[s]://NAME, or unix:/PATH")
	check("all at once", Flags{Origin: "x", Listen: "y", Admin: "z", Policy: "w"},
		"--policy: w: must be always, second-hit, counting, chance or never\n"+
			"--origin: x: must be http[s]://HOST[:PORT], srv+http[s]://NAME, or unix:/PATH\n"+
			"--listen: y: must be HOST:PORT, such as 127.0.0.1:8080, or unix:PATH\n"+
			"--admin: z: must be HOST:PORT, such as 127.0.0.1:8080, or unix:PATH")
}

// flagsOver returns what is said about a file and flags, and the configuration.
func flagsOver(file string, f Flags) (*Config, string) {
	c, err := parse(caseFile, []byte(file), f, environment)
	if err != nil {
		return nil, err.Error()
	}
	return c, "ok"
}

func TestFlagsOverAFile(t *testing.T) {
	check := func(name, file string, f Flags, want string) {
		t.Run(name, func(t *testing.T) {
			if _, got := flagsOver(file, f); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	url := Flags{Origin: "http://h"}
	check("an origin for a file without", "limits: {variants: 1}\n", url, "ok")
	check("an origin for a file with an empty section", "origins:\n", url, "ok")
	check("an origin for a file with one", oneOrigin, url, "--origin: http://h: remove the flag: edge.yaml has origins")
	check("the flag's origin is called app", "routes: [{name: a, origin: app}]\n", url, "ok")
	check("and nothing else", "routes: [{name: a, origin: web}]\n", url, "edge.yaml:1:28: routes[0].origin: web: must be the name of an origin: app")
	check("both are checked", "limits: {variants: 0}\n", Flags{Origin: "x"},
		"--origin: x: must be http[s]://HOST[:PORT], srv+http[s]://NAME, or unix:/PATH\nedge.yaml:1:20: limits.variants: 0: must be 1 to 10000000")
	check("a wrong value stays wrong under a flag", oneOrigin+"listen: [{address: x, proxy_protocol: v2}]\nadmission: {policy: x}\n",
		Flags{Listen: ":80", Policy: "never"},
		"edge.yaml:2:39: listen[0].proxy_protocol: v2: must be true or false\nedge.yaml:3:21: admission.policy: x: must be always, second-hit, counting, chance or never")
	check("an address is replaced before it is checked", oneOrigin+"admin: {address: \":80\"}\n", Flags{Admin: "localhost:80"}, "ok")
	check("a section may lose its use", oneOrigin+"admission: {second_hit: {generations: 3}}\n", Flags{Policy: "always"}, "ok")
	check("a section needs a use without the flag", oneOrigin+"admission: {counting: {generations: 3}}\n", Flags{Policy: "counting"},
		"edge.yaml:2:13: admission.counting: remove the section: no route uses the policy counting")
	check("a route's more_than may lose its use",
		oneOrigin+"admission: {policy: counting}\nroutes: [{name: a, origin: web, admission: {more_than: 2}}]\n", Flags{Policy: "never"}, "ok")
	const noTLS = "--listen replaces all of listen, and has no TLS"
	check("certificates beside a listener without TLS", oneOrigin+"listen: [{address: \":443\", tls: true}]\ntls: {certificates: [{certificate: c, key: k}]}\n", Flags{Listen: ":80"},
		"edge.yaml:3:21: tls.certificates: remove it: "+noTLS)
	check("ACME beside a listener without TLS", oneOrigin+"listen: [{address: \":443\", tls: true}]\ntls: {acme: {names: [a.example], accept_terms: true, storage: s}}\n", Flags{Listen: ":80"},
		"edge.yaml:3:7: tls.acme: remove the section: "+noTLS)
	check("a flag's address is another's", oneOrigin+"metrics: {address: \":80\"}\n", Flags{Listen: ":80"},
		"edge.yaml:2:20: metrics.address: :80: must be another address: this is the one of listen[0].address")
}

func TestFlagsReplaceWhatTheFileSays(t *testing.T) {
	file := oneOrigin + "listen: [{address: \":1\"}, {address: \":2\"}]\nadmin: {address: \"[::1]:3\"}\nadmission: {policy: never}\n" +
		"routes: [{name: own, origin: web, match: {path_prefix: /own}, admission: {policy: always}}, {name: rest, origin: web}]\n"
	c, problem := flagsOver(file, Flags{Listen: ":4", Admin: "[::1]:5", Policy: "counting"})
	if c == nil {
		t.Fatal(problem)
	}
	if diff := cmp.Diff([]Listen{{Address: ":4"}}, c.Listen); diff != "" {
		t.Errorf("listen: want -, got +:\n%s", diff)
	}
	if c.Admin.Address != "[::1]:5" {
		t.Errorf("admin: got %s, want the flag's", c.Admin.Address)
	}
	if got, want := c.Routes[0].Admission, (policy.Rule{Policy: policy.Always}); got != want {
		t.Errorf("a route's own policy: got %v, want %v", got, want)
	}
	if got, want := c.Routes[1].Admission, (policy.Rule{Policy: policy.Counting, MoreThan: 4}); got != want {
		t.Errorf("the policy of all: got %v, want %v", got, want)
	}
}

func TestOverride(t *testing.T) {
	c, problem := flagsOver(oneOrigin+"admission: {policy: counting}\nroutes: [{name: a, origin: web, admission: {more_than: 2}}]\n", Flags{})
	if c == nil {
		t.Fatal(problem)
	}
	before := *c
	if err := c.Override(Flags{Policy: "never", Listen: "x"}); err == nil || err.Error() != "--listen: x: must be HOST:PORT, such as 127.0.0.1:8080, or unix:PATH" {
		t.Errorf("got %v, want the flag to be refused", err)
	}
	if diff := cmp.Diff(&before, c, ignoreOwn); diff != "" {
		t.Errorf("a refused override left its mark: was -, is +:\n%s", diff)
	}
	routes := c.Routes
	for _, step := range []struct {
		policy string
		want   policy.Rule
	}{{"never", policy.Rule{Policy: policy.Never}}, {"counting", policy.Rule{Policy: policy.Counting, MoreThan: 2}}, {"", policy.Rule{Policy: policy.Counting, MoreThan: 2}}} {
		if err := c.Override(Flags{Policy: step.policy}); err != nil {
			t.Fatal(err)
		}
		if got := c.Routes[0].Admission; got != step.want {
			t.Errorf("policy %q: got %v, want %v", step.policy, got, step.want)
		}
	}
	if got, want := routes[0].Admission, (policy.Rule{Policy: policy.Counting, MoreThan: 2}); got != want {
		t.Errorf("routes taken before: got %v, want %v as before", got, want)
	}
	if err := c.Override(Flags{Origin: "http://i"}); err == nil {
		t.Error("an origin over the file's: got no error")
	}
}

func TestOverrideReplacesAFlagsOrigin(t *testing.T) {
	c, err := FromFlags(Flags{Origin: "http://h"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Override(Flags{Origin: "http://i"}); err != nil {
		t.Fatal(err)
	}
	if got := c.Origins[0].Servers[0].Host; got != "i" {
		t.Errorf("got %s, want i", got)
	}
}

func TestWarningsKnowTheFlags(t *testing.T) {
	c, problem := flagsOver(oneOrigin+"admission: {second_hit: {rotate_every: 0s}}\n", Flags{Policy: "always"})
	if c == nil {
		t.Fatal(problem)
	}
	if got := c.Warnings(); len(got) > 0 {
		t.Errorf("got %v, want no word about a filter without use", got)
	}
}

func TestFlagsComeFromTheTable(t *testing.T) {
	want := map[string]string{
		"origin": "origin server, http[s]://HOST[:PORT]; only where the file has no origins",
		"listen": "address to serve clients on (default 127.0.0.1:8080)",
		"admin":  "address of the admin listener (default 127.0.0.1:9980)",
		"policy": "admission: always, second-hit, counting, chance or never (default second-hit)",
	}
	var f Flags
	got := map[string]string{}
	for _, flag := range f.List() {
		got[flag.Name] = flag.Help
		*flag.Value = flag.Name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if (f != Flags{Origin: "origin", Listen: "listen", Admin: "admin", Policy: "policy"}) {
		t.Errorf("got %+v, want each flag bound to its own", f)
	}
}
