package edgetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"edgeproxy/internal/test/testkit"
)

const (
	maxScenarioLines = 60
	minScenarios     = 40
)

// otherOnDisk are the scenarios that are about memory, and why.
var otherOnDisk = map[string]string{
	"b_gate_open_below":          "the memory tier does not fill",
	"b_outweighed":               "copies of what is on a disk do not compete",
	"b_variants_least_used_goes": "the disk has no bound on the variants of one URL",
}

// TestScenarios runs every scenario in a bubble of its own, and those that store anything once more where that goes to a disk:
// the others never come there. The quick run has a tenth of these.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < minScenarios {
		t.Errorf("got %d scenarios, want at least %d: some are lost", len(files), minScenarios)
	}
	storing, every := 0, testkit.Times(1, 10)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !scenario(t, string(text), false) || otherOnDisk[name] != "" {
				return
			}
			if storing++; storing%every == 0 {
				t.Run("on a disk", func(t *testing.T) { scenario(t, string(text), true) })
			}
		})
	}
	if storing < minScenarios {
		t.Errorf("got %d scenarios that store anything, want at least %d", storing, minScenarios)
	}
}

// scenario runs one, and reports whether an edge of it has stored anything.
func scenario(t *testing.T, text string, disk bool) (stores bool) {
	t.Helper()
	steps, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.disk = disk
		if err := w.run(steps); err != nil {
			t.Error(err)
		}
		for _, e := range []*Edge{w.edge, w.shield} {
			stores = stores || e != nil && e.Store.Stats().Writes > 0
		}
	})
	return stores
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
