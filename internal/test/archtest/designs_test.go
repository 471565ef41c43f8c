package archtest

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostDesignLines is how long the DESIGN.md of a wing may be.
const mostDesignLines = 150

// designed lists the folders of the wings that have a DESIGN.md: those of the program, and what tests share.
func designed() (folders []string) {
	for _, w := range wings() {
		if w.name == "config" || strings.HasPrefix(w.name, "internal/") {
			folders = append(folders, w.name)
		}
	}
	return folders
}

// Each wing has a DESIGN.md that names its rooms, and says what was not chosen.
func TestEachWingHasItsDesign(t *testing.T) {
	rooms := house(t).rooms()
	for _, wing := range designed() {
		name := path.Join("../../..", wing, "DESIGN.md")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		its := slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return !within(wing, room) })
		for _, problem := range designProblems(string(text), its) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// designProblems says what a design of these rooms lacks.
func designProblems(text string, rooms []string) (problems []string) {
	if lines := strings.Count(text, "\n"); lines > mostDesignLines {
		problems = append(problems, "is too long")
	}
	if !strings.Contains(text, "\n## Not chosen, because\n") {
		problems = append(problems, `has no section "Not chosen, because"`)
	}
	for _, room := range rooms {
		if !strings.Contains(text, "`"+path.Base(room)+"`") {
			problems = append(problems, "does not name the room "+room)
		}
	}
	return problems
}

var testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][A-Za-z0-9]*\b`)

// A law of a design whose test was renamed would be held by nothing that a reader finds.
func TestTestsNamedInDesignsExist(t *testing.T) {
	tests := map[string]bool{}
	for _, f := range house(t).files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test {
				tests[fn.Name.Name] = true
			}
		}
	}
	named := 0
	for at, text := range documents(t) {
		if path.Base(at) != "DESIGN.md" {
			continue
		}
		for _, name := range testName.FindAllString(text, -1) {
			if named++; !tests[name] {
				t.Errorf("%s names %s, which is not there", at, name)
			}
		}
	}
	if named < 100 {
		t.Errorf("designs name %d tests, want those of their laws", named)
	}
}

var settingName = regexp.MustCompile("`([a-z_]+)\\.[a-z_.]+`")

// A setting that was renamed went on under its old name in notes for developers.
func TestSettingsNamedInDesignsExist(t *testing.T) {
	settings, err := os.ReadFile("../../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for at, text := range documents(t) {
		if base := path.Base(at); base != "DESIGN.md" && base != "ARCHITECTURE.md" {
			continue
		}
		for _, m := range settingName.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(settings), "`"+m[1]+".") {
				continue // no section of the file
			}
			if named++; !strings.Contains(string(settings), m[0]) {
				t.Errorf("%s names %s, which is no setting", at, m[0])
			}
		}
	}
	if named < 20 {
		t.Errorf("designs name %d settings, want those that they are about", named)
	}
}

func TestDesignsThatLackSomethingAreSeen(t *testing.T) {
	const whole = "# a\n\n`a` and `b`\n\n## Not chosen, because\n"
	for text, want := range map[string]int{
		whole: 0,
		whole + strings.Repeat("x\n", mostDesignLines): 1,
		"# a\n\n`a` and `b`\n":                         1,
		"# a\n\n`a`\n\n## Not chosen, because\n":       1,
	} {
		if got := designProblems(text, []string{"internal/a", "internal/a/internal/b"}); len(got) != want {
			t.Errorf("%q: got %q, want %d problems", text, got, want)
		}
	}
}
