package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The document has sections that are written from the outcomes, each between these lines.
const (
	sectionBegin = "<!-- conformance:"
	sectionEnd   = "<!-- conformance:end -->"
	comment      = " -->"
)

// document is the file that has such sections.
func document(root string) string { return filepath.Join(root, "docs", "conformance.md") }

// writeDocument writes the sections of the document.
func writeDocument(root string, stdout io.Writer) error {
	f, err := readFacts(root)
	if err != nil {
		return err
	}
	for _, e := range editions() {
		if ids := f.reasons.unexplained(e, f.outcomes[e]); len(ids) > 0 {
			fmt.Fprintf(stdout, "%s: must have a reason in reasons.txt: %s\n", e, strings.Join(ids, ", "))
		}
	}
	name := document(root)
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	now, err := f.rewrite(string(text))
	if err != nil {
		return fmt.Errorf("write the document: %s: %w", name, err)
	}
	if now == string(text) {
		return nil
	}
	if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	fmt.Fprintf(stdout, "wrote %s\n", name)
	return nil
}

// rewrite returns text with every section written anew.
func (f *facts) rewrite(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, sectionBegin)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, rest, _ := strings.Cut(rest, comment)
		_, after, ended := strings.Cut(rest, sectionEnd)
		if !ended {
			return "", fmt.Errorf("section %q has no end", name)
		}
		section, err := f.section(name)
		if err != nil {
			return "", err
		}
		b.WriteString(sectionBegin + name + comment + "\n" + section + sectionEnd)
		text = after
	}
}
