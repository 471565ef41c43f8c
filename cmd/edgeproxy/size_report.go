package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/page"
)

// Figures as the tables have them.
func sizeCount(n uint64) string    { return page.Plain.Format(float64(n)) }
func sizeBytes(n uint64) string    { return page.Bytes.Format(float64(n)) }
func sizeRatio(v float64) string   { return page.Percent.Format(v) }
func sizeDecimal(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// question is what was asked, in words.
func (a *sizeAnswer) question() string {
	r := a.request
	memory := sizeCount(r.bits) + " bits for each filter"
	if r.bytes > 0 {
		memory = sizeBytes(r.bytes)
	}
	switch {
	case r.filterBits() == 0:
		return fmt.Sprintf("%s keys at %s: the memory.", sizeCount(r.keys), sizeRatio(r.rate))
	case r.rate == 0:
		return fmt.Sprintf("%s keys in %s: the false positive rate.", sizeCount(r.keys), memory)
	}
	return fmt.Sprintf("%s at %s: the keys.", memory, sizeRatio(r.rate))
}

// filterTable is one filter in every layout.
func (a *sizeAnswer) filterTable() page.Table {
	t := page.Table{
		Caption: "One filter, exactly full",
		Columns: layoutColumns("keys", "hashes", "bits", "bits/key", "memory", "rate"),
	}
	for _, r := range a.results {
		row := missing(r, len(t.Columns))
		if r.err == nil {
			f := r.filter
			row = []string{
				r.layout.name, sizeCount(f.keys), strconv.Itoa(f.hashes), sizeCount(f.bits),
				sizeDecimal(f.bitsPerKey()), sizeBytes(f.bytes()), sizeRatio(f.rate),
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// windowTable is the window in every layout.
func (a *sizeAnswer) windowTable() page.Table {
	t := page.Table{
		Caption: fmt.Sprintf("Window of %d generations, each asked by itself", a.request.generations),
		Columns: layoutColumns(
			"keys each", "certain", "hashes", "bits each", "bits/certain", "memory", "rate each", "peak", "mean",
		),
	}
	for _, r := range a.results {
		row := missing(r, len(t.Columns))
		if r.err == nil {
			w := r.window
			row = []string{
				r.layout.name, sizeCount(w.each.keys), sizeCount(w.guaranteed()), strconv.Itoa(w.each.hashes), sizeCount(w.each.bits),
				sizeDecimal(w.bitsPerKey()), sizeBytes(w.bytes()), sizeRatio(w.each.rate), sizeRatio(w.peak), sizeRatio(w.mean),
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// layoutColumns are the layout's name and figures of these names.
func layoutColumns(figures ...string) []page.Column {
	columns := []page.Column{{Name: "layout"}}
	for _, name := range figures {
		columns = append(columns, page.Column{Name: name, Numeric: true})
	}
	return columns
}

// missing is the row of a layout without a solution.
func missing(r sizeResult, columns int) []string {
	row := []string{r.layout.name}
	for len(row) < columns {
		row = append(row, "–")
	}
	return row
}

// legend explains the words of the tables.
func (a *sizeAnswer) legend() []string {
	g := a.request.generations
	lines := []string{
		fmt.Sprintf("Certain: the last (%d-1) x keys each are held for certain, none beyond %d x keys each.", g, g),
		"Peak: every generation is full. Mean: over the cycle from one rotation to the next.",
	}
	for _, r := range a.results {
		if r.err != nil {
			lines = append(lines, r.err.Error()+".")
		}
	}
	return lines
}

// bound is the best that any Bloom filter can do at what was given.
func (a *sizeAnswer) bound() string {
	r := a.request
	if r.rate > 0 {
		bits := bloom.BitsPerKey(r.rate)
		return fmt.Sprintf("The bound for one filter at %s: %.3f bits/key, with %.2f hashes.", sizeRatio(r.rate), bits, bloom.OptimalProbes(bits))
	}
	bits := float64(r.filterBits()) / float64(r.keys)
	return fmt.Sprintf("The bound for one filter of %.2f bits/key: %s, with %.2f hashes.", bits, sizeRatio(bloom.BestRate(bits)), bloom.OptimalProbes(bits))
}

// settingText introduces the setting, or says why there is none.
func (a *sizeAnswer) settingText() string {
	if a.noteOf != "" {
		return "No setting for the proxy: " + a.noteOf + "."
	}
	return fmt.Sprintf("The setting for the proxy; its %s filters take %s, as they keep %s of the rate in reserve:",
		a.setting.policy, sizeBytes(a.setting.bytes(a.setting.options)), sizeRatio(1-bloom.DesignRate(1)))
}

// writeText writes the answer for a terminal.
func (a *sizeAnswer) writeText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(a.question() + "\n" + a.bound() + "\n\n")
	for _, t := range []page.Table{a.filterTable(), a.windowTable()} {
		sizeText(&b, t)
		b.WriteByte('\n')
	}
	b.WriteString(strings.Join(a.legend(), "\n") + "\n\n" + a.settingText() + "\n")
	if a.noteOf == "" {
		b.WriteString("\n" + a.setting.yaml())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sizeText writes t with its columns in line. The last one is numeric, so that no
// line ends in spaces.
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
