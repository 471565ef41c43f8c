package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// caseFile is what the file of a case is called in its errors.
const caseFile = "edge.yaml"

// environment is what the variables of cases and fuzzing are.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"PORT":     "9000",
		"EVERY":    "30",
		"COUNT":    "7",
		"YES":      "true",
		"EMPTY":    "",
		"INJECT":   "x\nadmin: {address: 0.0.0.0:1}",
		"DOLLAR":   "${PORT}",
		"PASSWORD": "hunter2",
		"NETWORKS": "10.0.0.0/8,127.0.0.1, 2001:db8::/32 ",
		"SERVERS":  "http://a:1, unix:/run/b.sock",
		"STATUSES": "502,503",
		"PREFIXES": "/a,/b",
		"WORDS":    "some, words",
		"HOLE":     "10.0.0.0/8,,127.0.0.1",
	}[name]
	return value, ok
}

// TestCases runs the pairs in testdata: a line "== name", the input, a line of
// dashes, and what is said about the input: "ok", or the errors in their order;
// behind "ok", the warnings.
func TestCases(t *testing.T) {
	total := 0
	eachCase(t, func(name, input, want string) {
		total++
		t.Run(name, func(t *testing.T) {
			if got := said(input); got != want {
				t.Errorf("input:\n%s\ngot:\n%s\nwant:\n%s", input, got, want)
			}
		})
	})
	if total < 50 {
		t.Errorf("got %d cases, want at least 50", total)
	}
}

// eachCase calls f for every pair.
func eachCase(t *testing.T, f func(name, input, want string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split("\n"+string(data), "\n== ")[1:] {
			name, text, _ := strings.Cut(text, "\n")
			input, want, ok := strings.Cut(text, "-----\n")
			if !ok {
				t.Fatalf("%s: case %d, %s: no line of dashes", file, i+1, name)
			}
			f(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, input, strings.TrimSpace(want))
		}
	}
}

// said returns what is said about a file.
func said(input string) string {
	c, err := parse(caseFile, []byte(input), Flags{}, environment)
	if err != nil {
		return err.Error()
	}
	lines := []string{"ok"}
	for _, w := range c.Warnings() {
		lines = append(lines, w.String())
	}
	return strings.Join(lines, "\n")
}
