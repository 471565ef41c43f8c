package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"edgeproxy/internal/admission/size"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/ops/page"
)

// Formats of numbers in the tables.
func sizeCount(n uint64) string    { return page.Plain.Format(float64(n)) }
func sizeBytes(n uint64) string    { return page.Bytes.Format(float64(n)) }
func sizeRatio(v float64) string   { return page.Percent.Format(v) }
func sizeDecimal(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// question restates what was asked.
func (a sizeAnswer) question() string {
	r := a.Request
	memory := sizeCount(r.Bits) + " bits for each filter"
	if r.Bytes > 0 {
		memory = sizeBytes(r.Bytes)
	}
	switch {
	case r.FilterBits() == 0:
		return fmt.Sprintf("%s keys at %s: the memory.", sizeCount(r.Keys), sizeRatio(r.Rate))
	case r.Rate == 0:
		return fmt.Sprintf("%s keys in %s: the false positive rate.", sizeCount(r.Keys), memory)
	}
	return fmt.Sprintf("%s at %s: the keys.", memory, sizeRatio(r.Rate))
}

// filterTable is one filter in every layout.
func (a sizeAnswer) filterTable() page.Table {
	t := page.Table{
		Caption: "One filter, exactly full",
		Columns: layoutColumns("keys", "hashes", "bits", "bits/key", "memory", "rate"),
	}
	for _, r := range a.Results {
		row := missing(r, len(t.Columns))
		if r.Err == nil {
			f := r.Filter
			row = []string{
				r.Layout.Name, sizeCount(f.Keys), strconv.Itoa(f.Hashes), sizeCount(f.Bits),
				sizeDecimal(f.BitsPerKey()), sizeBytes(f.Bytes()), sizeRatio(f.Rate),
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// windowTable is the window in every layout.
func (a sizeAnswer) windowTable() page.Table {
	t := page.Table{
		Caption: fmt.Sprintf("Window of %d generations, each asked by itself", a.Request.Generations),
		Columns: layoutColumns(
			"keys each", "certain", "hashes", "bits each", "bits/certain", "memory", "rate each", "peak", "mean",
		),
	}
	for _, r := range a.Results {
		row := missing(r, len(t.Columns))
		if r.Err == nil {
			w := r.Window
			row = []string{
				r.Layout.Name, sizeCount(w.Each.Keys), sizeCount(w.Guaranteed()), strconv.Itoa(w.Each.Hashes), sizeCount(w.Each.Bits),
				sizeDecimal(w.BitsPerKey()), sizeBytes(w.Bytes()), sizeRatio(w.Each.Rate), sizeRatio(w.Peak), sizeRatio(w.Mean),
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// layoutColumns returns a column for the layout's name, and a numeric one for each figure.
func layoutColumns(figures ...string) []page.Column {
	columns := []page.Column{{Name: "layout"}}
	for _, name := range figures {
		columns = append(columns, page.Column{Name: name, Numeric: true})
	}
	return columns
}

// missing is the row of a layout without a solution.
func missing(r size.Result, columns int) []string {
	row := []string{r.Layout.Name}
	for len(row) < columns {
		row = append(row, "–")
	}
	return row
}

// legend explains the words of the tables.
func (a sizeAnswer) legend() []string {
	g := a.Request.Generations
	lines := []string{
		fmt.Sprintf("Certain: the last (%d-1) x keys each are held for certain, none beyond %d x keys each.", g, g),
		"Peak: every generation is full. Mean: over the cycle from one rotation to the next.",
	}
	for _, r := range a.Results {
		if r.Err != nil {
			lines = append(lines, r.Err.Error()+".")
		}
	}
	return lines
}

// bound states the best that any Bloom filter can do for the request.
func (a sizeAnswer) bound() string {
	r := a.Request
	if r.Rate > 0 {
		bits := bloom.BitsPerKey(r.Rate)
		return fmt.Sprintf("The bound for one filter at %s: %.3f bits/key, with %.2f hashes.", sizeRatio(r.Rate), bits, bloom.OptimalProbes(bits))
	}
	bits := float64(r.FilterBits()) / float64(r.Keys)
	return fmt.Sprintf("The bound for one filter of %.2f bits/key: %s, with %.2f hashes.", bits, sizeRatio(bloom.BestRate(bits)), bloom.OptimalProbes(bits))
}

// settingText introduces the setting, or says why there is none.
func (a sizeAnswer) settingText() string {
	if a.WhyNone != "" {
		return "No setting for the proxy: " + a.WhyNone + "."
	}
	return fmt.Sprintf("The setting for the proxy; its %s filters take %s, as they keep %s of the rate in reserve:",
		a.Setting.Policy, sizeBytes(a.Setting.Bytes(a.Setting.Options)), sizeRatio(1-bloom.DesignRate(1)))
}

// writeText writes the answer for a terminal.
func (a sizeAnswer) writeText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(a.question() + "\n" + a.bound() + "\n\n")
	for _, t := range []page.Table{a.filterTable(), a.windowTable()} {
		sizeText(&b, t)
		b.WriteByte('\n')
	}
	b.WriteString(strings.Join(a.legend(), "\n") + "\n\n" + a.settingText() + "\n")
	if a.WhyNone == "" {
		b.WriteString("\n" + a.Setting.YAML())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sizeText writes t with aligned columns. The last column is numeric, so no line
// ends in spaces.
func sizeText(b *strings.Builder, t page.Table) {
	widths := make([]int, len(t.Columns))
	rows := [][]string{make([]string, len(t.Columns))}
	for i, c := range t.Columns {
		rows[0][i] = c.Name
	}
	rows = append(rows, t.Rows...)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	b.WriteString(t.Caption + "\n")
	for _, row := range rows {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.Columns[i].Numeric {
				b.WriteString("  " + space + cell)
			} else {
				b.WriteString("  " + cell + space)
			}
		}
		b.WriteByte('\n')
	}
}
