package page

import (
	"crypto/sha256"
	_ "embed" // the files below
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
)

var (
	//go:embed uplot/uPlot.iife.min.js
	uplotScript string
	//go:embed uplot/uPlot.min.css
	uplotStyle string
	//go:embed uplot/LICENSE
	uplotLicense string
	//go:embed page.js
	pageScript string
	//go:embed page.css
	pageStyle string
	//go:embed page.html
	pageTemplate string
)

// document is what the template shows.
type document struct {
	Title    string
	Lead     []string
	Policy   string
	Styles   []template.CSS
	Scripts  []template.JS // none where there is no chart
	License  string        // license of uPlot, which wants it in every copy
	Sections []section
}

type section struct {
	ID      string
	Heading string
	Text    []string
	Facts   []Fact
	Bars    []bar
	Figure  *figure
	Table   *tableView
	Code    string
}

// bar is a Bar with its length in the template's coordinates, 0 to 100.
type bar struct {
	Bar

	Length string
}

func barsOf(bars []Bar) (out []bar) {
	for _, b := range bars {
		out = append(out, bar{Bar: b, Length: strconv.FormatFloat(100*b.Share, 'f', 2, 64)})
	}
	return out
}

// figure is a chart. Grid is nil where there is no point to draw.
type figure struct {
	ID    string
	Title string
	Grid  *grid
	Table tableView
}

// tableView is a table whose caption is settled. ID names the caption.
type tableView struct {
	Table

	ID string
}

// IsMarked reports whether row i stands out.
func (t tableView) IsMarked(i int) bool { return i < len(t.Marked) && t.Marked[i] }

// HasMarks reports whether a row does, and there is a word for it.
func (t tableView) HasMarks() bool {
	for i := range t.Rows {
		if t.Mark != "" && t.IsMarked(i) {
			return true
		}
	}
	return false
}

// render writes the document of p, which has passed check.
func render(w io.Writer, p *Page) error {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	return t.Execute(w, documentOf(p))
}

func documentOf(p *Page) document {
	d := document{
		Title: p.Title, Lead: paragraphs(p.Lead),
		Styles: []template.CSS{template.CSS(pageStyle)},
	}
	for i := range p.Sections {
		s := sectionOf(&p.Sections[i], fmt.Sprintf("section-%d", i+1))
		if s.Figure != nil && s.Figure.Grid != nil && d.Scripts == nil {
			d.Scripts = []template.JS{template.JS(uplotScript), template.JS(pageScript)}
			d.Styles = []template.CSS{template.CSS(uplotStyle), template.CSS(pageStyle)}
			d.License = uplotLicense
		}
		d.Sections = append(d.Sections, s)
	}
	d.Policy = policy(d.Styles, d.Scripts)
	return d
}

func sectionOf(s *Section, id string) section {
	out := section{ID: id, Heading: s.Heading, Text: paragraphs(s.Text), Facts: s.Facts, Bars: barsOf(s.Bars), Code: s.Code}
	if s.Chart != nil {
		g, t := gridOf(s.Chart)
		t.Caption = s.Chart.Title
		out.Figure = &figure{ID: id + "-chart", Title: s.Chart.Title, Table: tableView{Table: t, ID: id + "-data"}}
		if len(g.Xs) > 0 {
			out.Figure.Grid = &g
		}
	}
	if s.Table != nil {
		t := tableView{Table: *s.Table, ID: id + "-table"}
		if t.Caption == "" {
			t.Caption = s.Heading
		}
		out.Table = &t
	}
	return out
}

// policy is the Content-Security-Policy of the page: the scripts and styles it
// came with, by their digests, and nothing else at all (CSP Level 3).
func policy(styles []template.CSS, scripts []template.JS) string {
	var style, script strings.Builder
	for _, s := range styles {
		style.WriteString(" " + digest(string(s)))
	}
	for _, s := range scripts {
		script.WriteString(" " + digest(string(s)))
	}
	if script.Len() == 0 {
		script.WriteString(" 'none'")
	}
	return "default-src 'none'; script-src" + script.String() + "; style-src" + style.String() +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

// digest is the source expression that allows an inline element with this text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// paragraphs splits text at blank lines.
func paragraphs(text string) []string {
	var out []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}
