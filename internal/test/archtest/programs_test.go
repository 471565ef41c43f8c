package archtest

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// alwaysThere are programs of every Debian system, or of a machine on which this test runs.
var alwaysThere = []string{"cat", "cp", "go", "gzip", "sh", "tar", "timeout"}

// sameProgram has other names of programs, where a test takes the first that is there.
var sameProgram = map[string]string{"node": "nodejs", "chromium-browser": "chromium", "google-chrome": "chromium", "docker": "dockerd"}

// TestACheckOnANewMachineMissedAProgram: .ci/run installs every program that a test starts or looks for. nghttpd was in nobody's list,
// so the check was red on a machine that nobody had prepared.
func TestACheckOnANewMachineMissedAProgram(t *testing.T) {
	listed := listedPrograms(t)
	used := usedPrograms(t)
	if len(used) < 12 {
		t.Fatalf("tests use %q, want more: is testkit.Program called otherwise now?", slices.Sorted(maps.Keys(used)))
	}
	for name, where := range used {
		if other := sameProgram[name]; other != "" {
			name = other
		}
		if listed[name] == "" && !slices.Contains(alwaysThere, name) {
			t.Errorf("%s: %s is not in the list of .ci/run", where, name)
		}
	}
	for name := range commandsOfScripts(t) {
		if listed[name] == "" && !slices.Contains(alwaysThere, name) {
			t.Errorf("scripts: %s is not in the list of .ci/run", name)
		}
	}
	contributing, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, pkg := range listed {
		if !regexp.MustCompile(`[| ]` + regexp.QuoteMeta(pkg) + `[, ]`).Match(contributing) {
			t.Errorf("CONTRIBUTING.md does not have the package %s, which has %s", pkg, name)
		}
	}
}

// listedPrograms returns the packages of .ci/run by the programs that they have.
func listedPrograms(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)needs=\((.*?)\)`).FindSubmatch(text)
	if list == nil {
		t.Fatal(".ci/run has no list of what it needs")
	}
	listed := map[string]string{}
	for need := range strings.FieldsSeq(string(list[1])) {
		name, pkg, found := strings.Cut(need, "=")
		if !found {
			pkg = name
		}
		listed[name] = pkg
	}
	return listed
}

// usedPrograms returns the programs that tests, and what they measure with, start or look for by a name that stands in the source.
func usedPrograms(t *testing.T) map[string]string {
	t.Helper()
	tr := house(t)
	used := map[string]string{}
	for _, f := range tr.files {
		if !f.test && !strings.HasPrefix(f.room, "test/") && f.room != "loadtest" && f.room != "internal/test/testkit" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, name := range programsOf(call) {
				if !strings.Contains(name, "/") {
					used[name] = tr.at(call.Pos())
				}
			}
			return true
		})
	}
	return used
}

// programsOf returns the programs that a call names, if it is one that starts or looks for a program.
func programsOf(call *ast.CallExpr) (names []string) {
	var at int
	all := false
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		switch f.Sel.Name {
		case "Command", "LookPath":
		case "CommandContext":
			at = 1
		case "Program":
			at, all = 1, true
		default:
			return nil
		}
		if x, ok := f.X.(*ast.Ident); !ok || x.Name != "exec" && x.Name != "testkit" {
			return nil
		}
	case *ast.Ident:
		if f.Name != "Program" {
			return nil
		}
		at, all = 1, true
	default:
		return nil
	}
	for i, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || i < at || i > at && !all {
			continue
		}
		if name, err := strconv.Unquote(lit.Value); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// commandsOfScripts returns the programs that scripts look for by "command -v".
func commandsOfScripts(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	scripts, err := filepath.Glob("../../../scripts/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	pattern := regexp.MustCompile(`command -v ([a-z][a-z0-9-]*)`)
	for _, name := range scripts {
		if filepath.Base(name) == "soak-disk.sh" { // is no part of the check
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pattern.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
	}
	return found
}

// TestATestWasHiddenFromTheRaceDetector: a file that only one of the two builds has, with the detector or without, has tests of which
// the run with the detector does not know, so nobody leaves them to the other run. Tests leave themselves by testkit.Plain.
func TestATestWasHiddenFromTheRaceDetector(t *testing.T) {
	tr := house(t)
	pattern := regexp.MustCompile(`\brace\b`)
	for _, f := range tr.files {
		if f.room == "internal/test/testkit" {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:build") && pattern.MatchString(c.Text) && f.test {
					t.Errorf("%s: %s: must be testkit.Plain in each test", f.name, c.Text)
				}
			}
		}
	}
}
