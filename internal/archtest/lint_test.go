package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// depguardRule is one rule of the linter's depguard section.
type depguardRule struct {
	ListMode string   `yaml:"list-mode"`
	Files    []string `yaml:"files"`
	Allow    []string `yaml:"allow"`
}

// TestLinterHasTheSameTable keeps .golangci.yml, which says it in the editor,
// from drifting away from the table.
func TestLinterHasTheSameTable(t *testing.T) {
	text, err := os.ReadFile("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]depguardRule `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	got := config.Linters.Settings.Depguard.Rules
	want := depguardRules(rooms())
	for _, r := range got {
		slices.Sort(r.Allow)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("depguard rules of .golangci.yml (-want +got):\n%s", diff)
	}
}

// depguardRules writes the table as the linter wants it. An allowed path is a
// prefix there, so our own end in $, which stands for the end of the path.
func depguardRules(table map[string]room) map[string]depguardRule {
	out := map[string]depguardRule{}
	for name, r := range table {
		if r.testOnly {
			continue
		}
		allow := []string{"$gostd"}
		for _, ours := range r.ours {
			allow = append(allow, module+"/"+ours+"$")
		}
		allow = append(allow, r.third...)
		slices.Sort(allow)
		out[strings.ReplaceAll(name, "/", "-")] = depguardRule{
			ListMode: "strict",
			Files:    []string{"**/" + name + "/*.go", "!$test"},
			Allow:    allow,
		}
	}
	return out
}
