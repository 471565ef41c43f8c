package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// expectedFile names the file of an edition's outcomes.
func expectedFile(root, edition string) string {
	return filepath.Join(root, "test", "conformance", "expected", edition+".txt")
}

// readExpected reads the outcomes of an edition; an edition without a file has none.
func readExpected(root, edition string) ([]result, error) {
	name := expectedFile(root, edition)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the expected outcomes: %w", err)
	}
	results, err := parseExpected(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return results, nil
}

// parseExpected reads what formatExpected writes. An error begins with the line's number.
func parseExpected(r io.Reader) ([]result, error) {
	var out []result
	group := ""
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			group = strings.TrimSuffix(name, "]")
			continue
		}
		e, err := parseLine(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%d: %w", n, err)
		case group == "":
			return nil, fmt.Errorf("%d: %s: must have a [group] above it", n, e.id)
		case seen[e.id]:
			return nil, fmt.Errorf("%d: %s: must be there once", n, e.id)
		}
		seen[e.id] = true
		e.group = group
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	return out, nil
}

// parseLine reads one test: kind, id, outcome, and what a dependency needs.
func parseLine(line string) (result, error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return result{}, fmt.Errorf("%q: must be a kind, a test and an outcome", line)
	}
	r := result{kind: kind(words[0]), id: words[1], outcome: outcome(words[2])}
	if !r.outcome.valid(r.kind) {
		return result{}, fmt.Errorf("%s: a %s test with the outcome %s does not exist", r.id, r.kind, r.outcome)
	}
	switch rest := words[3:]; {
	case r.outcome == dependency && len(rest) == 1:
		r.needs = rest[0]
	case r.outcome == dependency:
		return result{}, fmt.Errorf("%s: must have the test it needs after %s", r.id, dependency)
	case len(rest) > 0:
		return result{}, fmt.Errorf("%s: unexpected %q", r.id, rest[0])
	}
	return r, nil
}

// formatExpected writes results for people and for diffs: a line a test, under its group.
func formatExpected(edition, version string, results []result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Outcomes of http-cache-tests %s (%s), under every policy: kind, test, outcome,\n", version, edition)
	fmt.Fprintf(&b, "# and for a dependency the test at its root. Written by make conformance UPDATE=1.\n")
	group := ""
	for _, r := range results {
		if r.group != group {
			group = r.group
			fmt.Fprintf(&b, "\n[%s]\n", group)
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-8s  %s  %s %s", r.kind, r.id, r.outcome, r.needs), " "))
		b.WriteByte('\n')
	}
	return b.Bytes()
}
