package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// reason says why tests do not pass.
type reason struct {
	text   string
	exempt bool     // the test contradicts the RFC, so it should not pass
	tests  []string // id, or edition/id where only that edition is meant
}

// covers says whether the reason names the test.
func (r *reason) covers(edition, id string) bool {
	for _, t := range r.tests {
		if t == id || t == edition+"/"+id {
			return true
		}
	}
	return false
}

// reasons are all of them, in the order of the file.
type reasons []reason

// The method of returns the reason of a result: its own, or for a dependency the one of the
// test at its root. It is nil where none is given.
func (rs reasons) of(edition string, r result) *reason {
	for i := range rs {
		if rs[i].covers(edition, r.id) {
			return &rs[i]
		}
	}
	if r.outcome != dependency {
		return nil
	}
	for i := range rs {
		if rs[i].covers(edition, r.needs) {
			return &rs[i]
		}
	}
	return nil
}

// unexplained lists the required tests that do not pass, without a reason.
func (rs reasons) unexplained(edition string, results []result) []string {
	var out []string
	for _, r := range results {
		if r.kind == required && !r.outcome.holds() && rs.of(edition, r) == nil {
			out = append(out, r.id)
		}
	}
	return out
}

// readReasons reads reasons.txt.
func readReasons(root string) (reasons, error) {
	name := filepath.Join(root, "test", "conformance", "reasons.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the reasons: %w", err)
	}
	out, err := parseReasons(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return out, nil
}

// parseReasons reads a reason a line, and below it, indented, the tests that it is about. An
// error begins with the line's number.
func parseReasons(r io.Reader) (reasons, error) {
	var out reasons
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == lines.Text():
			text, exempt := strings.CutPrefix(line, "exempt: ")
			out = append(out, reason{text: text, exempt: exempt})
		case len(out) == 0:
			return nil, fmt.Errorf("%d: %s: must have a reason above it", n, line)
		case seen[line]:
			return nil, fmt.Errorf("%d: %s: must have one reason", n, line)
		default:
			seen[line] = true
			last := &out[len(out)-1]
			last.tests = append(last.tests, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	return out, nil
}
