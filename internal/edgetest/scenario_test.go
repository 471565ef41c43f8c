package edgetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

const (
	maxScenarioLines = 60
	minScenarios     = 40
)

// TestScenarios runs every scenario in a bubble of its own.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < minScenarios {
		t.Errorf("got %d scenarios, want at least %d: some are lost", len(files), minScenarios)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				if err := newWorld(t).run(steps); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

var scenarioName = regexp.MustCompile(`^([bcfr]_[a-z0-9_]+|i_rfc\d+_\d[a-z0-9_]*)\.txt$`)

func TestEveryScenarioIsShortAndExpectsSomething(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !scenarioName.MatchString(filepath.Base(file)) {
			t.Errorf("%s: want b_, c_, f_, r_ and a name, or i_rfcNNNN_SECTION_name", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > maxScenarioLines {
			t.Errorf("%s: %d lines, want at most %d", file, n, maxScenarioLines)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: want a comment first that says what it shows", file)
		}
		if !strings.Contains(string(text), "->") {
			t.Errorf("%s: expects nothing of any client", file)
		}
	}
}
