package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	decisions     = "../../../docs/decisions/"
	decisionsHead = `# Decisions

A record says what was decided, what was rejected, and the evidence for both. What holds today stands in the DESIGN.md of each wing
([ARCHITECTURE.md](../ARCHITECTURE.md) lists them); a record is read for its evidence. It keeps the names of its time. Files have moved since, and some
names are others:

| in records | now |
|---|---|
| limits.read_idle, write_idle, upgrade_idle, keepalive | read_idle_timeout, write_idle_timeout, upgrade_idle_timeout, keepalive_timeout |
| limits.spool, admission.open_below, headers.own | spool_path, warm_up_below, generated |
| cache.stale.server_error, tls.acme.agree | if_error, accept_terms |
| the result scarce | held_back |
| --fpr | --false-positive-rate |
| scripts/deb.sh | scripts/package.sh |
| figures in the README | docs/savings.md, docs/performance.md |

| state | meaning |
|---|---|
| in force | holds as written |
| amended by | holds, but for what a later record changes |
| replaced by | a later record decided the matter otherwise |
| history | its matter is gone |

This page is made from the records: ` + "`go test ./internal/test/archtest -update`" + `. [CONTRIBUTING.md](../../CONTRIBUTING.md#decisions) says when a new record is written.

| number | decision | wing | state |
|---|---|---|---|
`
)

// decision is the head of one record.
type decision struct {
	file, number, title, wing, state string
}

var (
	recordHead = regexp.MustCompile(`\A# (\d{4}) (.+)\n\nStatus: ([^;\n]+)(?:; [^\n]+)?\nWing: (\S+)\n\n`)
	state      = regexp.MustCompile(`^(in force|history|(?:amended|replaced) by (\d{4}(?:, \d{4})*))$`)
)

func TestTheIndexOfDecisionsIsUpToDate(t *testing.T) {
	files, err := filepath.Glob(decisions + "[0-9]*.md")
	if err != nil || len(files) < 100 {
		t.Fatalf("got %d records, %v", len(files), err)
	}
	var rows []string
	later := map[string]bool{}
	for _, name := range slices.Backward(files) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := parseDecision(filepath.Base(name), string(text), later)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		later[d.number] = true
		rows = append(rows, fmt.Sprintf("| [%s](%s) | %s | %s | %s |\n", d.number, d.file, d.title, d.wing, d.state))
	}
	slices.Reverse(rows)
	checkMade(t, decisions+"README.md", decisionsHead+strings.Join(rows, ""))
}

// parseDecision reads the head of a record. The records that it names must be among the later ones.
func parseDecision(file, text string, later map[string]bool) (decision, error) {
	m := recordHead.FindStringSubmatch(text)
	if m == nil {
		return decision{}, fmt.Errorf("must begin with a title, a line of Status and a line of Wing")
	}
	d := decision{file: file, number: m[1], title: strings.ReplaceAll(m[2], "|", `\|`), state: m[3], wing: m[4]}
	if !strings.HasPrefix(file, d.number+"-") {
		return d, fmt.Errorf("has the number %s", d.number)
	}
	if !slices.Contains(wingsOfDecisions(), d.wing) {
		return d, fmt.Errorf("%q must be one of %q", d.wing, wingsOfDecisions())
	}
	s := state.FindStringSubmatch(d.state)
	if s == nil {
		return d, fmt.Errorf("status %q must be in force, history, or amended or replaced by records", d.state)
	}
	for number := range strings.SplitSeq(s[2], ", ") {
		if s[2] != "" && !later[number] {
			return d, fmt.Errorf("there is no later record %s", number)
		}
	}
	return d, nil
}

// wingsOfDecisions are the words of a line of Wing: the wings, and what is no wing.
func wingsOfDecisions() []string {
	words := []string{"cmd", "packaging", "house"}
	for _, wing := range designed() {
		words = append(words, path.Base(wing))
	}
	return words
}

func TestHeadsOfRecordsAreRead(t *testing.T) {
	f := func(text string, ok bool) {
		t.Helper()
		d, err := parseDecision("0007-x.md", text, map[string]bool{"0009": true, "0010": true})
		if (err == nil) != ok {
			t.Errorf("%q: got %+v, %v", text, d, err)
		}
	}
	const rest = "\nWing: cache\n\n## Context\n"
	f("# 0007 X\n\nStatus: in force"+rest, true)
	f("# 0007 X\n\nStatus: amended by 0009, 0010; the second point"+rest, true)
	f("# 0007 X\n\nStatus: replaced by 0009"+rest, true)
	f("# 0007 X\n\nStatus: history"+rest, true)
	f("# 0007 X\n\nStatus: accepted"+rest, false)
	f("# 0007 X\n\nStatus: amended by 0006"+rest, false)
	f("# 0007 X\n\nStatus: amended by"+rest, false)
	f("# 0008 X\n\nStatus: in force"+rest, false)
	f("# 0007 X\n\nStatus: in force\n\n## Context\n", false)
	f("# 0007 X\n\nStatus: in force\nWing: attic\n\n", false)
}
