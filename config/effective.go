package config

import (
	"errors"
	"fmt"
	"slices"

	"edgeproxy/internal/admission/policy"
)

const effectiveHead = `# What is in force, with defaults filled in, as edgeproxy config print found it.
# Secrets are stars. A line that is a comment has what may not stand beside the rest.
# Routes say what they do otherwise than the top of the file; a comment behind one has both together.

`

// Effective returns a file with every setting in force, defaults and flags included. Parse
// of it has no Changes from c, except secrets, which are stars. A route has its own settings,
// and a comment with those that it inherits. An error is a mistake in this package.
func (c *Config) Effective() (string, error) {
	var omitted []string // settings that the checks refuse in this file: they become comments
	for {
		w := newWriter(&c.src, false, c.inclusionOf(omitted))
		w.note = c.inForceNotes()
		text := effectiveHead + w.file(c.table())
		_, err := parse("print", []byte(text), Flags{}, func(string) (string, bool) { return "", false })
		if err == nil {
			return text, nil
		}
		var all Errors
		if !errors.As(err, &all) {
			return "", fmt.Errorf("print configuration: %w", err)
		}
		before := len(omitted)
		for _, e := range all {
			if at, ok := c.dependentAt(e.Path); ok && !slices.Contains(omitted, at) {
				omitted = append(omitted, at)
			}
		}
		if len(omitted) == before {
			return "", fmt.Errorf("print configuration: %w", err)
		}
	}
}

// inclusionOf says which settings stand in the file; those at omitted are comments.
func (c *Config) inclusionOf(omitted []string) func(s row, path string) inclusion {
	var own string // the section of a route that is being written
	return func(s row, path string) inclusion {
		if s.override {
			own = path
		}
		for _, p := range policy.All() {
			if name := p.Section(); name != "" && path == child("admission", name) {
				return includedIf(c.uses(p) || c.shadows(p))
			}
		}
		switch {
		case path == includeKey, pathPattern(path) == nestedPath: // what it includes stands in the file itself, and routes within others in the list
			return leftOut
		case slices.Contains(omitted, path):
			return asComment
		case own != "" && within(path, own):
			return includedIf(c.src.given(path))
		case s.optional:
			return includedIf(c.src.given(path) || !s.value.isDefault())
		}
		return written
	}
}

func includedIf(it bool) inclusion {
	if it {
		return written
	}
	return leftOut
}

// dependentAt returns the path of the dependent setting at path or around it.
func (c *Config) dependentAt(path string) (at string, ok bool) {
	c.table().walk("", func(of string, s row) {
		if s.dependent && within(path, of) {
			at, ok = of, true
		}
	})
	return at, ok
}
