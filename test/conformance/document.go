package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A document has sections that are written from the outcomes, each between these lines.
const (
	sectionBegin = "<!-- conformance:"
	sectionEnd   = "<!-- conformance:end -->"
	comment      = " -->"
)

// documents are the files that may have such sections.
func documents(root string) []string {
	return []string{filepath.Join(root, "docs", "conformance.md"), filepath.Join(root, "README.md")}
}

// writeDocuments writes the sections of every document.
func writeDocuments(root string, stdout io.Writer) error {
	f, err := readFacts(root)
	if err != nil {
		return err
	}
	for _, e := range editions() {
		if ids := f.reasons.unexplained(e, f.outcomes[e]); len(ids) > 0 {
			fmt.Fprintf(stdout, "%s: must have a reason in reasons.txt: %s\n", e, strings.Join(ids, ", "))
		}
	}
	for _, name := range documents(root) {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("write the documents: %w", err)
		}
		now, err := f.rewrite(string(text))
		if err != nil {
			return fmt.Errorf("write the documents: %s: %w", name, err)
		}
		if now == string(text) {
			continue
		}
		if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
			return fmt.Errorf("write the documents: %w", err)
		}
		fmt.Fprintf(stdout, "wrote %s\n", name)
	}
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
