package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/test/testkit"
)

// checkEffective holds what is printed of c to its law: it is accepted, and means the same.
func checkEffective(t *testing.T, c *Config) {
	t.Helper()
	text, err := c.Effective()
	if err != nil {
		t.Fatalf("%v", err)
	}
	again, err := Parse("print", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if strings.Contains(text, stars) {
		return // a secret is another then
	}
	if diff := cmp.Diff(c, again, ignoreOwn); diff != "" {
		t.Errorf("was -, is printed as +:\n%s\n%s", diff, text)
	}
	if text2, err := again.Effective(); err != nil || text2 != text {
		t.Errorf("printed again: %v\n%s", err, cmp.Diff(text, text2))
	}
}

func TestWhatIsPrintedMeansTheSame(t *testing.T) {
	testkit.Plain(t, "hundreds of files are read, one behind another")
	check := func(name, input string, f Flags) {
		t.Run(name, func(t *testing.T) {
			if c, err := parse(caseFile, []byte(input), f, environment); err == nil {
				checkEffective(t, c)
			} else if name == "every key" {
				t.Error(err)
			}
		})
	}
	check("every key", everyKey, Flags{})
	check("starter", Starter(), Flags{Listen: ":1", Admin: "[::1]:2", Policy: "counting"})
	every, n := testkit.Times(1, 5), 0 // the quick run tries one case of five
	eachCase(t, func(name, input, want string) {
		if n++; n%every == 0 && strings.HasPrefix(want, "ok") {
			check(name, input, Flags{})
		}
	})
	const app = "origins: {app: {servers: [\"http://h\"]}}\n"
	check("a target that a small header bounds", app+"limits: {header_bytes: 4KiB}", Flags{})
	check("a buffer that few bytes in flight bound", app+"limits: {inflight_bytes: 64KiB}", Flags{})
	check("only listeners with TLS", app+"listen: [{address: \":1\", tls: true}]\ntls: {acme: {names: [a.example], accept_terms: true, storage: s}}", Flags{})
	check("signs", app+"access_log: {path: \"a\\\"b\\\\c $$x #: 'é'\"}\nroutes: [{name: \"1\", origin: app, match: {path_prefix: \"/ä {x}, *&!\"}, headers: {response: {set: {\"X: y\": \"\\U0001F600\\u00a0\\x01\\n-\"}}}}]", Flags{})
}

// A flag may leave a section or key of the file without use; it is a comment then.
func TestWhatAFlagLeftWithoutUseIsPrintedAsAComment(t *testing.T) {
	c, problem := flagsOver(oneOrigin+"admission: {warm_up_below: 0.5, state: s}\ncache: {memory: {stage_bytes: 1MiB}}\n"+
		"routes: [{name: a, origin: web, admission: {policy: counting, more_than: 2}}]\n", Flags{Policy: "always"})
	if c == nil {
		t.Fatal(problem)
	}
	checkEffective(t, c)
	c, problem = flagsOver(oneOrigin+"admission: {warm_up_below: 0.5, state: s, second_hit: {generations: 3}}\ncache: {memory: {stage_bytes: 1MiB}}\n", Flags{Policy: "always"})
	if c == nil {
		t.Fatal(problem)
	}
	text, err := c.Effective()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  policy: always\n", "\n  # warm_up_below: 0.5\n", "\n  state: s\n", "\n    # stage_bytes: 1MiB\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := Parse("print", []byte(text)); err != nil || strings.Contains(text, "second_hit:") {
		t.Errorf("got %v, and a section that nothing uses\n%s", err, text)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	const input = `origins: {app: {servers: ["http://h"]}}
admin: {token: "the-token-of-admin-${PASSWORD}"}
access_log: {path: "http://user:url-secret@log.example/"}
tracing: {endpoint: "https://collector.example", headers: {X-Team: plain-secret}}
routes:
  - name: a
    origin: app
    headers:
      request: {set: {Authorization: Bearer plain-secret, X-Api-Key: plain-secret, X-Own: "v-${PASSWORD}", X-Edge: shown}}
      response: {set: {Set-Cookie: plain-secret}}
`
	c, err := parse(caseFile, []byte(input), Flags{}, environment)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Effective()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"the-token", "hunter2", "plain-secret", "url-secret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in\n%s", secret, text)
		}
	}
	if !strings.Contains(text, "X-Edge: shown") || !strings.Contains(text, `token: "***"`) || !strings.Contains(text, `{X-Team: "***"}`) {
		t.Errorf("want the others, and stars, in\n%s", text)
	}
	if _, err := Parse("print", []byte(text)); err != nil {
		t.Error(err)
	}
}
