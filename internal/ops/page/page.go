package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Page is a whole report. All of its text is plain text and is escaped; a blank
// line in Lead or in a section's Text begins a new paragraph.
//
// Write only reads it, so one Page may be written by several goroutines.
type Page struct {
	// Title is the heading and the title of the browser's window; it must not
	// be empty.
	Title string

	// Lead is what a reader should know first. It may be empty.
	Lead string

	// Sections come in this order.
	Sections []Section
}

// Section is one part of a page. Every field may be empty; those that are not
// are shown in the order they have here.
type Section struct {
	Heading string
	Text    string
	Facts   []Fact
	Bars    []Bar
	Chart   *Chart
	Table   *Table
	Code    string // shown as it is, in a type of even width
}

// Fact is one named figure, with its unit written out: {"memory", "12 MiB"}.
type Fact struct {
	Name, Value string
}

// Bar is one of several amounts that are drawn below one another, to be compared at a glance.
type Bar struct {
	// Name is what has the amount, Text the amount with its unit, and what else is to stand beside the bar.
	Name, Text string

	// Share is the bar's length as a share of the longest possible one, 0 to 1.
	Share float64

	// Marked bars stand out.
	Marked bool
}

// Table is rows of text under named columns.
type Table struct {
	// Caption says what the table shows; empty is the section's heading.
	Caption string

	Columns []Column

	// Rows have one cell for each column.
	Rows [][]string

	// Marked says which rows stand out; nil is none, otherwise it has one value
	// for each row.
	Marked []bool

	// Mark says what it is that marked rows have in common. It stands below
	// the table where a row is marked.
	Mark string
}

// Column is the head of a column. Numeric ones are set flush right.
type Column struct {
	Name    string
	Numeric bool
}

// Write writes the page as one HTML document. Where the content cannot be shown
// truly (a missing title, lengths that do not agree, a value that is not a
// number) it writes nothing and the error says which part is wrong.
func (p *Page) Write(w io.Writer) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	if err := render(&out, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("page: write: %w", err)
	}
	return nil
}

// check returns the first thing that cannot be shown.
func (p *Page) check() error {
	if p.Title == "" {
		return errors.New("no title")
	}
	for i, s := range p.Sections {
		if err := s.check(); err != nil {
			return fmt.Errorf("section %d %q: %w", i+1, s.Heading, err)
		}
	}
	return nil
}

func (s *Section) check() error {
	for _, b := range s.Bars {
		if !(b.Share >= 0 && b.Share <= 1) { // also if it is no number
			return fmt.Errorf("bar %q: a share of %v, must be 0 to 1", b.Name, b.Share)
		}
	}
	if s.Chart != nil {
		if err := s.Chart.check(); err != nil {
			return fmt.Errorf("chart %q: %w", s.Chart.Title, err)
		}
	}
	if s.Table != nil {
		if err := s.Table.check(); err != nil {
			return fmt.Errorf("table %q: %w", s.Table.Caption, err)
		}
	}
	return nil
}

func (t *Table) check() error {
	if len(t.Columns) == 0 {
		return errors.New("no columns")
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d has %d cells for %d columns", i+1, len(row), len(t.Columns))
		}
	}
	if len(t.Marked) != 0 && len(t.Marked) != len(t.Rows) {
		return fmt.Errorf("%d marks for %d rows", len(t.Marked), len(t.Rows))
	}
	return nil
}
