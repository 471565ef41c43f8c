package archtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// mostDebts is how many tests may be known to be shaky.
const mostDebts = 5

// TestShakyTestsAreFew: each line of test/shaky.md is a bug that waits, so there are few, and each says what one needs to find it.
func TestShakyTestsAreFew(t *testing.T) {
	text, err := os.ReadFile("../../../test/shaky.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range shakyProblems(string(text)) {
		t.Errorf("test/shaky.md: %s", problem)
	}
}

func TestShakyProblemsAreTold(t *testing.T) {
	const head = "| date | test | seed | suspicion |\n|---|---|---|---|\n"
	const good = "| 2026-11-28 | edgeproxy/internal/x.TestA | 17 | two clocks |\n"
	for text, want := range map[string]int{
		head:                                                 0,
		head + good:                                          0,
		head + strings.Repeat(good, 5):                       0,
		head + strings.Repeat(good, 6):                       1,
		head + "| | x.TestA | 17 | y |\n":                    1,
		head + "| 2026-11-28 | | 17 | y |\n":                 1,
		head + "| 2026-11-28 | x.TestA | | y |\n":            1,
		head + "| 2026-11-28 | x.TestA | 17 | |\n":           1,
		head + "| 2026-11-28 | x.TestA | 17 | SUSPICION |\n": 1,
		head + "| 2026-11-28 | x.TestA | 17 |\n":             1,
		"no table":                                           1,
	} {
		if got := shakyProblems(text); len(got) != want {
			t.Errorf("%q: got %q, want %d problems", text, got, want)
		}
	}
}

// shakyProblems says what is wrong with the table.
func shakyProblems(text string) (problems []string) {
	_, rows, found := strings.Cut(text, "|---|---|---|---|\n")
	if !found {
		return []string{"must have a table of four columns"}
	}
	n := 0
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		if len(cells) != 6 {
			problems = append(problems, fmt.Sprintf("%q: must have a date, a test, a seed and a suspicion", row))
			continue
		}
		n++
		if _, err := time.Parse(time.DateOnly, strings.TrimSpace(cells[1])); err != nil {
			problems = append(problems, fmt.Sprintf("%q: the date must be like 2026-11-28", row))
		}
		if !strings.Contains(cells[2], ".Test") && !strings.Contains(cells[2], ".Fuzz") {
			problems = append(problems, fmt.Sprintf("%q: must name the test with its package", row))
		}
		if !regexp.MustCompile(`^ *(\d+|off) *$`).MatchString(cells[3]) {
			problems = append(problems, fmt.Sprintf("%q: must have the seed of the order, or off", row))
		}
		if s := strings.TrimSpace(cells[4]); s == "" || s == "SUSPICION" {
			problems = append(problems, fmt.Sprintf("%q: must say what is suspected", row))
		}
	}
	if n > mostDebts {
		problems = append(problems, fmt.Sprintf("%d tests, must be at most %d", n, mostDebts))
	}
	return problems
}
