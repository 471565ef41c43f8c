package config

import (
	"fmt"
	"testing"
)

// The elements are those of a list in brackets, also in what is printed and compared.
func TestAListFromAVariableIsTheListInBrackets(t *testing.T) {
	f := func(byVariable, inBrackets string) {
		t.Helper()
		const origins = "origins: {app: {servers: [\"http://h\"]}}\n"
		var texts [2]string
		var all [2]*Config
		for i, text := range []string{byVariable, inBrackets} {
			c, err := parse(caseFile, []byte(origins+text), Flags{}, environment)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if texts[i], err = c.Effective(); err != nil {
				t.Fatal(err)
			}
			all[i] = c
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: got\n%s\nwant\n%s", byVariable, texts[0], texts[1])
		}
		if changes := Changes(all[0], all[1]); len(changes) > 0 {
			t.Errorf("%s: got changes %v", byVariable, changes)
		}
	}
	f("purge: {allow: \"${NETWORKS}\"}", "purge: {allow: [10.0.0.0/8, 127.0.0.1, \"2001:db8::/32\"]}")
	f("purge: {allow: \"${EMPTY}\"}", "purge: {allow: []}")
	f("cache: {disk: {path: \"${PREFIXES}\"}}", "cache: {disk: {path: [/a, /b]}}")
	f("cache: {strip_cookies: \"${WORDS}\"}", "cache: {strip_cookies: [some, words]}")
	f("compress: {codings: \"${EMPTY:-gzip}\"}", "compress: {codings: [gzip]}")
}

func TestVariableText(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		root, problem := parseYAML(caseFile, fmt.Appendf(nil, "a: %s\n", text))
		if problem != nil {
			t.Fatal(problem)
		}
		all, _ := pairs(root)
		if got, ok := variableText(all[0].Value); ok != want {
			t.Errorf("%s: got %q %v, want %v", text, got, ok, want)
		}
	}
	f("${A}", true)
	f(`"${A}"`, true)
	f("${A:-b,c}", true)
	f("${A}${B}", false)
	f("${A},b", false)
	f("b,${A}", false)
	f("$${A}", false)
	f("${A", false)
	f("7", false)
	f("[a]", false)
}
