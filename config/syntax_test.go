package config

import (
	"strings"
	"testing"
)

func TestOddFiles(t *testing.T) {
	const origin = "origins: {app: {servers: [\"http://h\"]}}\n"
	check := func(name, input, want string) {
		t.Run(name, func(t *testing.T) {
			if got := said(input); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	check("lines end with CRLF", strings.ReplaceAll(origin+"limits:\n  variants: 0\n", "\n", "\r\n"),
		"edge.yaml:3:13: limits.variants: 0: must be 1 to 10000000")
	check("a byte order mark is no part of the first key", "\ufeff"+origin, "ok")
	check("bytes that are no UTF-8", origin+"# é \xff\n", "edge.yaml:2:5: must be text in UTF-8")
	check("a replacement character is UTF-8", origin+"# \ufffd\n", "ok")
	check("a file too large", strings.Repeat("#", maxFileBytes+1), "edge.yaml:1:1: must be a file of at most 1MiB")
	check("the largest file", origin+"#"+strings.Repeat(" ", maxFileBytes-len(origin)-1), "ok")
	check("brackets without end", strings.Repeat("[", 100_000), "edge.yaml:1:51: must have less nesting")
	check("braces without end", strings.Repeat("{a: ", 100_000), "edge.yaml:1:201: must have less nesting")
	check("brackets over lines", strings.Repeat("[\n", 100_000), "edge.yaml:51:1: must have less nesting")
	check("lists in a line", strings.Repeat("- ", 100_000), "edge.yaml:1:101: must have less nesting")
	check("keys in a line", strings.Repeat("? ", 100_000), "edge.yaml:1:101: must have less nesting")
	check("brackets side by side", "x: ["+strings.Repeat("[],", 1000)+"]\n"+origin, "edge.yaml:1:1: x: unknown key")
	check("many lines", origin+"routes:\n"+strings.Repeat("- a\n", 3)+"#",
		"edge.yaml:3:3: routes[0]: a: must be a section of keys\n"+
			"edge.yaml:4:3: routes[1]: a: must be a section of keys\n"+
			"edge.yaml:5:3: routes[2]: a: must be a section of keys")
	check("a file without a final line feed", strings.TrimSpace(origin), "ok")
	check("NUL", origin+"node: {name: \"a\x00b\"}\n",
		`edge.yaml:2:14: node.name: "a\x00b": `+wantName)
}
