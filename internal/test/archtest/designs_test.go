package archtest

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostDesignLines is how long the DESIGN.md of a wing may be.
const mostDesignLines = 150

// designed lists the wings that have a DESIGN.md.
func designed() []string {
	return []string{
		"admission", "bloom", "cache", "config", "conn", "edge", "front", "http", "lab", "ops", "origin", "proxy", "route", "test",
	}
}

// Each wing has a DESIGN.md that names its rooms, and says what was not chosen.
func TestEachWingHasItsDesign(t *testing.T) {
	rooms := map[string][]string{}
	for _, f := range house(t).files {
		wing := strings.Split(strings.TrimPrefix(f.room, "internal/"), "/")[0]
		if f.room == "config" || strings.HasPrefix(f.room, "internal/") {
			if !slices.Contains(rooms[wing], f.room) {
				rooms[wing] = append(rooms[wing], f.room)
			}
		}
	}
	for wing, its := range rooms {
		if !slices.Contains(designed(), wing) {
			t.Errorf("%s: is no wing that has a DESIGN.md", wing)
			continue
		}
		name := path.Join("internal", wing, "DESIGN.md")
		if wing == "config" {
			name = "config/DESIGN.md"
		}
		text, err := os.ReadFile(path.Join("../../..", name))
		if err != nil {
			t.Error(err)
			continue
		}
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
