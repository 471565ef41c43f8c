package page

import (
	"math"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// wide is a page whose table has as many columns as any report of ours, and whose axes
// reach as far.
func wide() *Page {
	table := &Table{Caption: "A table"}
	var row []string
	for _, c := range []struct{ name, cell string }{
		{"policy", "counting >14 (baseline)"},
		{"rotation", "every 1,000,000,000 requests (16c, never reached)"},
		{"generations", "4"},
		{"rate", "0.0001"},
		{"stage", "1023 KiB"},
		{"hits", "100.00%"},
		{"byte hits", "100.00%"},
		{"writes", "100,000,000"},
		{"written", "1023 GiB"},
		{"avoided", "100.0%"},
		{"extra origin", "-1023 GiB"},
		{"regret", "100,000,000"},
		{"front", "* recommended"},
	} {
		table.Columns = append(table.Columns, Column{Name: c.name, Numeric: c.name != "policy" && c.name != "rotation" && c.name != "front"})
		row = append(row, c.cell)
	}
	table.Rows = [][]string{row, row}
	p := &Page{Title: "A page with a name as long as a path: " + strings.Repeat("/var/log/nginx", 12), Sections: []Section{
		{Heading: "Table", Table: table},
		{Heading: "Lines", Code: "# " + strings.Repeat("a remark that is long ", 12) + "\nadmission:\n  policy: always\n"},
	}}
	chart := func(name string, from, to float64, log bool, unit Unit) {
		s := Series{Name: name}
		for i := range 60 {
			at := float64(i) / 59
			v := from + (to-from)*at
			if log {
				v = from * math.Pow(to/from, at)
			}
			s.X, s.Y = append(s.X, v), append(s.Y, v)
		}
		p.Sections = append(p.Sections, Section{Heading: name, Chart: &Chart{
			Title: name, X: "one", Y: "other", LogX: log, LogY: log, XUnit: unit, YUnit: unit, Series: []Series{s},
		}})
	}
	chart("bytes over many powers", 1<<10, 1<<45, true, Bytes)
	chart("bytes over one", 1<<20, 1.9*(1<<20), true, Bytes)
	chart("numbers over many powers", 1e-9, 1e12, true, Plain)
	chart("ratios over many powers", 1e-12, 0.5, true, Percent)
	chart("ratios that are nearly alike", 0.99991, 0.99995, false, Percent)
	chart("large numbers", 0, 12_272, false, Plain)
	chart("huge numbers", 0, 3e15, false, Plain)
	chart("times over many powers", 1e-7, 1e6, true, Seconds)
	chart("a day", 0, 86_400, false, Seconds)
	return p
}

func TestBrowserShowsAllOfEveryPage(t *testing.T) {
	testkit.Plain(t, "the browser does the work")
	t.Parallel()
	testkit.ReadablePage(t, written(t, wide()), 9)
	testkit.ReadablePage(t, written(t, sample()), 4)
}

// The test above would see what is clipped, what has to be scrolled, and marks that
// are small or lie on each other.
func TestBrowserSeesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	document := written(t, sample())
	for _, change := range [][2]string{
		{"padding-inline: .4rem", "padding-inline: 9rem"},
		{`<p class="lead">30,297`, `<p class="lead" style="min-width: 3000px">30,297`},
		{"labelSize: 24, space: 70", "labelSize: 24, space: 3"},
		{"if (fits || n > splits.length) return kept;", "return kept;"},
		{`labelFont: "13px`, `labelFont: "6px`},
	} {
		if strings.Count(document, change[0]) != 1 {
			t.Fatalf("%q occurs %d times, want it once", change[0], strings.Count(document, change[0]))
		}
		document = strings.Replace(document, change[0], change[1], 1)
	}
	l := testkit.LookAtPage(t, document, 1300)[0]
	faults := strings.Join(l.Faults, "\n")
	if len(l.Scrolling) == 0 || !l.Wide || !strings.Contains(faults, " lies on ") || !strings.Contains(faults, ": 6 px high") {
		t.Errorf("got %+v, want all of it seen", l)
	}
}
