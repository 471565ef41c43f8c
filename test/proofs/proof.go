package main

import (
	"fmt"
	"io"
	"strings"

	"edgeproxy/internal/lab/figures"
)

// proof is a table with the commands that its figures come from, and what it is
// to show.
type proof struct {
	title    string
	commands []string
	table    figures.Table
	notes    []string // what a reader has to know
	claims   []claim
}

// claim is one thing that is said of a table.
type claim struct {
	says  string // with its bound
	found string
	holds bool
}

// ran notes the command of a report.
func (p *proof) ran(r *report) { p.commands = append(p.commands, r.command) }

// newProof returns a proof whose table has these columns.
func newProof(title string, columns ...string) *proof {
	p := &proof{title: title}
	p.row(columns...)
	return p
}

// row appends one row.
func (p *proof) row(cells ...string) { p.table.Row(cells...) }

// claim appends a claim; found is a format for what was found.
func (p *proof) claim(says string, holds bool, found string, args ...any) {
	p.claims = append(p.claims, claim{says: says, found: fmt.Sprintf(found, args...), holds: holds})
}

// failures returns how many claims do not hold.
func (p *proof) failures() (n int) {
	for _, c := range p.claims {
		if !c.holds {
			n++
		}
	}
	return n
}

// write prints the proof as Markdown.
func (p *proof) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n```sh\n%s\n```\n\n%s\n", p.title, strings.Join(p.commands, "\n"), p.table.Markdown(""))
	for _, note := range p.notes {
		b.WriteString(note + "\n\n")
	}
	for _, c := range p.claims {
		word := "holds"
		if !c.holds {
			word = "DOES NOT HOLD"
		}
		fmt.Fprintf(&b, "- %s: **%s** (%s)\n", c.says, word, c.found)
	}
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print %q: %w", p.title, err)
	}
	return nil
}
