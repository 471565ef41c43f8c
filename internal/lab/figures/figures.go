// Package figures answers one question: how are the figures of a measurement summed up and printed?
//
// Median and Quantile sum up, and a Table is printed as text or as Markdown. It knows nothing of what is measured.
package figures

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Median returns the value in the middle; with an even number of values it is the mean of the two in the middle. There must be one value at
// least.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Quantile returns the value that the share q, 0 to 1, of the sorted values does not pass, or zero if there is no value.
func Quantile[T cmp.Ordered](sorted []T, q float64) (value T) {
	if len(sorted) == 0 {
		return value
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Table is a table with a text before it. Its first row is the head. The zero Table is an empty one whose columns are aligned to the left
// in text.
type Table struct {
	Text  string // what stands before the table, in whole lines
	Gap   int    // spaces between columns of text; 0 is 3
	Right bool   // the columns of text are aligned to the right

	rows [][]string
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Rowf adds a row whose cells are separated by tabs in the format.
func (t *Table) Rowf(format string, args ...any) {
	t.Row(strings.Split(fmt.Sprintf(format, args...), "\t")...)
}

// Write writes the table as text.
func (t *Table) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(t.Text)
	flags, end := uint(0), ""
	if t.Right {
		flags, end = tabwriter.AlignRight, "\t" // only a cell that a tab ends is aligned
	}
	tw := tabwriter.NewWriter(&b, 0, 0, cmp.Or(t.Gap, 3), ' ', flags)
	for _, row := range t.rows {
		_, _ = io.WriteString(tw, strings.Join(row, "\t")+end+"\n") // into memory
	}
	_ = tw.Flush()
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// Markdown returns the rows as Markdown. The rule, such as "|---|--:|", says how its columns are aligned; without one they are all aligned to the
// left.
func (t *Table) Markdown(rule string) string {
	var b strings.Builder
	for i, row := range t.rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(cmp.Or(rule, "|"+strings.Repeat("---|", len(row))) + "\n")
		}
	}
	return b.String()
}
