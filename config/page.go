package config

import (
	"slices"
	"strings"
)

const pageHead = `# Settings

Every setting of the configuration file. This page, the JSON Schema (` + "`edgeproxy config schema`" + `,
[settings.schema.json](settings.schema.json)) and the reference file [config/edgeproxy.yaml](../config/edgeproxy.yaml)
are made from the tables in config/, and ` + "`make settings`" + ` makes them anew.
[operating.md](operating.md) says what settings cost and when to change them.

- ` + "`edgeproxy config init > edge.yaml`" + ` prints a short file to begin with, ` + "`edgeproxy check -c edge.yaml`" + ` validates a file, and
  ` + "`edgeproxy config print -c edge.yaml`" + ` prints what is in force, with defaults filled in and secrets as stars.
- An unknown key is an error. Sizes take B, KB, KiB, MB, MiB, GB and GiB; durations need a unit (ms, s, m, h, d, w).
- ` + "`${VAR}` and `${VAR:-default}`" + ` are expanded in values, ` + "`$$`" + ` is a dollar sign.
- A list may be one variable, with commas between its elements: ` + "`allow: ${NETWORKS}`" + `. An element in brackets is not split.
- Words have ` + "`-` or `_`: `policy: second_hit` is `second-hit`" + `.
- Live settings take effect when the file is read again, the others with a restart.
- ` + "`routes[]`" + ` is each element of the list of routes, ` + "`origins.*`" + ` each origin.
- A flag overrides the file. ‡ marks settings that a route may have too, under the same key in its own section; a key that the route leaves out has the value for all routes.
`

// Page returns docs/settings.md: what each setting is for, its values and its default.
func Page() string {
	var out strings.Builder
	out.WriteString(pageHead)
	c := Default()
	perRoute := map[string]bool{}
	for _, s := range new(Route).table() {
		if s.override {
			table{s}.walkNames("", func(path string, of row) { perRoute[path] = path != s.name || !of.isSection() })
		}
	}
	perRoute["admission.counting.more_than"] = perRoute["admission.more_than"]
	for _, top := range c.table() {
		if !top.isDocumented() {
			continue
		}
		out.WriteString("\n## " + top.name + "\n\n")
		if top.isSection() {
			out.WriteString(cell(top.about) + "\n\n")
		}
		out.WriteString("| setting | values | default | takes effect | meaning |\n|---|---|---|---|---|\n")
		table{top}.walkNames("", func(path string, s row) {
			if path == top.name && s.isSection() || atTop(path) {
				return
			}
			mark := ""
			if perRoute[path] {
				mark = " ‡"
			}
			out.WriteString("| `" + path + "`" + mark + " | " + cell(s.values()) + " | " + code(s.defaultText()) + " | " + s.effect() + " | " + s.meaning() + " |\n")
		})
	}
	return out.String()
}

// atTop reports whether a setting of routes belongs to a section that also stands at the top. The page has it there.
func atTop(path string) bool {
	return slices.ContainsFunc([]string{"cache", "limits", "access", "headers"}, func(of string) bool { return strings.HasPrefix(path, "routes[]."+of+".") })
}

// isSection reports whether the setting has settings below it, with rows of their own.
func (s row) isSection() bool {
	switch v := s.value.(type) {
	case *group:
		return true
	case collection:
		return !v.inline()
	}
	return false
}

// values says what values the setting may have.
func (s row) values() string {
	if _, ok := s.value.(*group); ok {
		return ""
	}
	out := s.value.kind()
	if bounds := s.value.bounds(); bounds != "" {
		out += ": " + bounds
	}
	return out
}

// defaultText is the default, "" for what has none.
func (s row) defaultText() string {
	if s.required {
		return "required"
	}
	switch v := s.value.(type) {
	case *group:
		return ""
	case collection:
		if !v.inline() {
			return ""
		}
	}
	if s.optional {
		return ""
	}
	s.value.reset() // a value in a table for documents
	return s.value.text(&source{}, "")
}

// effect says when a change of the setting takes effect.
func (s row) effect() string {
	if _, ok := s.value.(*group); ok {
		return ""
	}
	if s.live {
		return "live"
	}
	return "restart"
}

// meaning is the description of the setting on the page.
func (s row) meaning() string {
	out := cell(s.about)
	if s.example != "" {
		out += " Such as " + code(s.example) + "."
	}
	if s.flag != "" {
		out += " Flag: " + code(s.flag) + "."
	}
	return out
}

// cell is text in a table of the page.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "*", `\*`)
}

// code is YAML text as code.
func code(text string) string {
	switch text {
	case "", "required":
		return text
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}
