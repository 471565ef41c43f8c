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
func TestScenarios(t *testing.T) { scenarios(t, Options{}) }

// TestScenariosOnDisk runs them where what is stored goes to a disk.
func TestScenariosOnDisk(t *testing.T) { scenarios(t, Options{Disk: true}) }

// otherOnDisk are the scenarios that are about memory, and why.
var otherOnDisk = map[string]string{
	"b_gate_open_below":          "the memory tier does not fill",
	"b_variants_least_used_goes": "the disk has no bound on the variants of one URL",
}

func scenarios(t *testing.T, o Options) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < minScenarios {
		t.Errorf("got %d scenarios, want at least %d: some are lost", len(files), minScenarios)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if o.Disk && otherOnDisk[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.options.Disk = o.Disk
				if err := w.run(steps); err != nil {
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
