package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/lab/command"
)

func TestUsage(t *testing.T) {
	f := func(wantCode int, want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != wantCode || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got %d, %s; want %d and %q", args, code, stderr.String(), wantCode, want)
		}
	}

	f(command.Done, "-update", "-h")
	f(command.Usage, "-odd", "-odd")
	f(command.Usage, `unexpected argument "x"`, "x")
	f(command.Usage, "-parallel 0", "-parallel", "0")
	f(command.Usage, "-limit 10ms", "-limit", "10ms")
	f(command.Usage, "must be with -only", "-trace")
	f(command.Usage, "without -only", "-only", "a", "-update")
}

func TestWithoutNodeTheSuiteIsLeftOutUnlessEverythingMustRun(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := func(all string, wantCode int, wantOut, wantErr string) {
		t.Helper()
		t.Setenv("EDGEPROXY_TEST_ALL", all)
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"-cache", t.TempDir()}, &stdout, &stderr)
		if code != wantCode || !strings.HasPrefix(stdout.String(), wantOut) || !strings.HasPrefix(stderr.String(), wantErr) {
			t.Errorf("EDGEPROXY_TEST_ALL=%s: got %d, %q, %q", all, code, stdout.String(), stderr.String())
		}
	}

	f("", command.Done, "conformance: left out: ", "")
	f("1", command.Failed, "", "conformance: the suite is not there: ")
}

// TestConfigurationOfTheSuite: a default lifetime, for one, would fail most tests.
func TestConfigurationOfTheSuite(t *testing.T) {
	t.Setenv("SUITE_ORIGIN", "http://127.0.0.1:9")
	c, err := config.LoadWith("edgeproxy.yaml", config.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Cache.DefaultTTL != 0 {
		t.Errorf("default_ttl: got %v, want none", c.Cache.DefaultTTL)
	}
	if len(c.Routes) != 1 || len(c.Origins) != 1 {
		t.Errorf("got %d routes and %d origins, want everything to go to the suite's", len(c.Routes), len(c.Origins))
	}
	if c.Listen[0].Address != "127.0.0.1:0" || c.Admin.Address != "127.0.0.1:0" {
		t.Errorf("got %q and %q, want free ports: both policies run at once", c.Listen[0].Address, c.Admin.Address)
	}
}

// house makes a checkout with what the program reads, and these expected outcomes.
func house(t *testing.T, expected string) string {
	t.Helper()
	root := t.TempDir()
	driver, err := os.ReadFile("suite.mjs")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "test/conformance/"
	write(t, root, map[string]string{
		dir + "suite.mjs":               string(driver),
		dir + "edgeproxy.yaml":          "",
		dir + "peers.json":              `{"npm": {"peers": [], "groups": {}}, "repository": {"peers": [], "groups": {}}}`,
		dir + "reasons.txt":             "",
		dir + "expected/npm.txt":        "[g]\n" + expected,
		dir + "expected/repository.txt": "[g]\nrequired a pass\n",
		"docs/conformance.md":           "<!-- conformance:score -->\n<!-- conformance:end -->\n",
	})
	return root
}

// TestTheWholeRun plays a made-up suite through a made-up edgeproxy: see fakeSuite for what
// the ids of tests mean.
func TestTheWholeRun(t *testing.T) {
	needNode(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeEdge, "1")
	play := func(t *testing.T, root, ids string, args ...string) (code int, said string) {
		t.Helper()
		var tests []string
		for id := range strings.FieldsSeq(ids) {
			tests = append(tests, `{id: '`+id+`', requests: [{}]}`)
		}
		suite := fakeSuite(t, `{id: 'g', tests: [`+strings.Join(tests, ", ")+`]}`)
		var out bytes.Buffer
		args = append([]string{"-root", root, "-suite", suite, "-cache", t.TempDir(), "-edgeproxy", self}, args...)
		code = run(t.Context(), args, &out, &out)
		return code, out.String()
	}
	f := func(name, ids, expected string, args []string, wantCode int, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			code, said := play(t, house(t, expected), ids, args...)
			if code != wantCode {
				t.Errorf("got %d, want %d", code, wantCode)
			}
			for _, w := range want {
				if !strings.Contains(said, w) {
					t.Errorf("got\n%s\nwant %q in it", said, w)
				}
			}
		})
	}

	f("as expected", "a never", "required a pass\nrequired never fail", []string{"-failing"}, command.Done,
		"never: fail  Assertion: never under always", "Every outcome is the expected one.")
	f("lost", "a never", "required a pass\nrequired never pass", nil, command.Failed, "never: fail, was pass", "lost tests: 1")
	f("policies differ", "only-always", "required only-always pass", nil, command.Failed,
		"second-hit differs from always", "only-always: fail, was pass", "the policies differ on 1 tests")
	f("an accident of timing", "second-time", "required second-time pass", nil, command.Done,
		"played again under always: second-time: fail, then pass", "Every outcome is the expected one.")
	f("single tests", "a never", "required a fail", []string{"-only", "never"}, command.Done,
		"policy always", "never: fail  Assertion: never under always", "never: fail  Assertion: never under second-hit")
	f("what a single test does", "a never", "required a fail", []string{"-only", "never", "-trace"}, command.Done,
		"dump never", "policy always", "the origin's side: ")

	t.Run("update", func(t *testing.T) {
		root := house(t, "required a fail\nrequired never fail\n")
		code, said := play(t, root, "a never", "-update")
		if code != command.Done || !strings.Contains(said, "npm: must have a reason in reasons.txt: never\n") {
			t.Errorf("got %d,\n%s\nwant 0 and the test without a reason", code, said)
		}
		kept, err := readExpected(root, "npm")
		if err != nil || short(kept) != "a:pass never:fail" {
			t.Errorf("kept: got %s, %v", short(kept), err)
		}
		text, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
		if err != nil || !strings.Contains(string(text), "| **edgeproxy** | **1** | **0** | **0** | **1** |") {
			t.Errorf("the document: got\n%s, %v", text, err)
		}
	})
}
