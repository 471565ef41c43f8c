package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	scriptElement = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	styleElement  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	policyElement = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
	tag           = regexp.MustCompile(`<[!/]?[a-zA-Z][^\s>]*`)
	reachesOut    = regexp.MustCompile(`(?i)\b(src|srcset|href|action|formaction|poster|data|background|ping|manifest)\s*=|<(link|base|iframe|object|embed|img)\b`)
)

// texts returns what stands in the elements that re matches.
func texts(re *regexp.Regexp, document string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(document, -1) {
		out = append(out, m[1])
	}
	return out
}

// markup is the document without the text of its scripts and styles.
func markup(document string) string {
	return styleElement.ReplaceAllString(scriptElement.ReplaceAllString(document, "<script></script>"), "<style></style>")
}

func TestPageAsksForNothingOutsideItself(t *testing.T) {
	document := written(t, sample())
	if found := reachesOut.FindString(markup(document)); found != "" {
		t.Errorf("got %q in the markup, want nothing that loads or leads elsewhere", found)
	}
	for _, style := range texts(styleElement, document) {
		if found := regexp.MustCompile(`(?i)url\(|@import|@font-face`).FindString(style); found != "" {
			t.Errorf("got %q in a style, want nothing that loads", found)
		}
	}
	for _, script := range texts(scriptElement, document) {
		if found := regexp.MustCompile(`fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|eval\(|new Function`).FindString(script); found != "" {
			t.Errorf("got %q in a script, want nothing that loads or evaluates", found)
		}
	}
}

func TestPolicyAllowsTheOwnScriptsAndStylesAlone(t *testing.T) {
	f := func(name string, p *Page, scripts int) {
		t.Helper()
		document := written(t, p)
		sources := func(texts []string) string {
			out := ""
			for _, text := range texts {
				sum := sha256.Sum256([]byte(text))
				out += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			return out
		}
		if got := len(texts(scriptElement, document)); got != scripts {
			t.Errorf("%s: got %d scripts, want %d", name, got, scripts)
		}
		script := sources(texts(scriptElement, document))
		if scripts == 0 {
			script = " 'none'"
		}
		want := "default-src 'none'; script-src" + script + "; style-src" + sources(texts(styleElement, document)) +
			"; img-src data:; base-uri 'none'; form-action 'none'"
		got := texts(policyElement, document)
		if len(got) != 1 || html.UnescapeString(got[0]) != want {
			t.Errorf("%s: got the policies %q, want one: %q", name, got, want)
		}
		if at := strings.Index(document, "<style"); at < strings.Index(document, "Content-Security-Policy") {
			t.Errorf("%s: the first style comes before the policy, want it after", name)
		}
	}

	f("with charts", sample(), 2)
	f("without", &Page{Title: "t", Sections: []Section{{Heading: "h"}}}, 0)
	f("with an empty chart", &Page{Title: "t", Sections: []Section{{Chart: &Chart{Title: "c"}}}}, 0)
}

// filled is a page that has text in every place a caller can put it.
func filled(text string) *Page {
	points := Series{Name: text, X: []float64{1, 2}, Y: []float64{3, 4}, Labels: []string{text, text}}
	curve := Series{Name: text, X: []float64{1, 2}, Y: []float64{3, 4}}
	return &Page{Title: text, Lead: text, Sections: []Section{{
		Heading: text, Text: text, Code: text, Facts: []Fact{{text, text}},
		Chart: &Chart{Title: text, X: text, Y: text, Kind: Scatter, Series: []Series{points}},
		Table: &Table{Caption: text, Columns: []Column{{Name: text}}, Rows: [][]string{{text}}, Marked: []bool{true}, Mark: text},
	}, {
		Heading: text, Chart: &Chart{Title: text, X: text, Y: text, Series: []Series{curve}},
	}}}
}

// hostile is text that would leave any place it is put in unescaped.
const hostile = `</script></style></title></textarea>--><!--<script>document.documentElement.dataset.error="ran"</script>` +
	`"'><img src=x onerror='document.documentElement.dataset.error="ran"'>{{.}}&lt;\u003c` + "\u2028`${1}"

func TestCallersTextIsNeverMarkup(t *testing.T) {
	tags := func(p *Page) []string { return tag.FindAllString(markup(written(t, p)), -1) }
	if diff := cmp.Diff(tags(filled("plain")), tags(filled(hostile))); diff != "" {
		t.Errorf("hostile text changes the elements of the page (-plain +hostile):\n%s", diff)
	}
	if got, want := strings.Count(written(t, filled("plain")), "plain"), 38; got != want {
		t.Errorf("the text occurs %d times, want %d: filled leaves places out, or two into one", got, want)
	}
}

func TestWriteRefusesWhatCannotBeShown(t *testing.T) {
	f := func(want string, change func(*Page)) {
		t.Helper()
		p := filled("x")
		change(p)
		var out bytes.Buffer
		err := p.Write(&out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
		if out.Len() != 0 {
			t.Errorf("%s: got %d bytes written, want none", want, out.Len())
		}
	}
	chart := func(p *Page) *Chart { return p.Sections[0].Chart }
	points := func(p *Page) *Series { return &p.Sections[0].Chart.Series[0] }
	curve := func(p *Page) *Series { return &p.Sections[1].Chart.Series[0] }

	f("page: no title", func(p *Page) { p.Title = "" })
	f(`page: section 1 "x": chart "x": series "x": 2 values of x and 3 of y`, func(p *Page) { points(p).Y = []float64{1, 2, 3} })
	f("1 labels for 2 points", func(p *Page) { points(p).Labels = []string{"one"} })
	f(`section 2 "x": chart "x": series "x": labels are for points of a scatter chart`, func(p *Page) { curve(p).Labels = []string{"a", "b"} })
	f("x of point 2: NaN is not a finite number", func(p *Page) { points(p).X = []float64{1, math.NaN()} })
	f("y of point 1: +Inf is not a finite number", func(p *Page) { points(p).Y = []float64{math.Inf(1), 1} })
	f("x of point 1: 0 on a logarithmic axis", func(p *Page) { chart(p).LogX, points(p).X = true, []float64{0, 1} })
	f("y of point 2: -1 on a logarithmic axis", func(p *Page) { chart(p).LogY, points(p).Y = true, []float64{1, -1} })
	f("x of point 2: 1 after 1, must be a rising x", func(p *Page) { curve(p).X = []float64{1, 1} })
	f("no kind of chart has the number 2", func(p *Page) { chart(p).Kind = 2 })
	f("no unit has the number 4", func(p *Page) { chart(p).YUnit = 4 })
	f("no unit has the number -1", func(p *Page) { chart(p).XUnit = -1 })
	f("20001 points, must be at most 20000", func(p *Page) {
		*points(p) = Series{X: make([]float64, MaxPoints+1), Y: make([]float64, MaxPoints+1)}
	})
	f(`table "x": no columns`, func(p *Page) { p.Sections[0].Table.Columns = nil })
	f("row 2 has 2 cells for 1 columns", func(p *Page) { p.Sections[0].Table.Rows = [][]string{{"a"}, {"b", "c"}} })
	f("2 marks for 1 rows", func(p *Page) { p.Sections[0].Table.Marked = []bool{true, false} })
}

func TestWriteSaysThatTheWriterFailed(t *testing.T) {
	broken := errors.New("disk full")
	if err := sample().Write(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v in it", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSamePageGivesTheSameBytes(t *testing.T) {
	first, second := written(t, sample()), written(t, sample())
	if first != second {
		t.Error("got two different documents of one page")
	}
}

func TestPageReadsWithoutScript(t *testing.T) {
	document := markup(written(t, sample()))
	f := func(what, element string, want int) {
		t.Helper()
		if got := strings.Count(document, element); got != want {
			t.Errorf("%s: got %d of %s, want %d", what, got, element, want)
		}
	}
	f("title", "<h1>", 1)
	f("sections", "<h2 id=", 6)
	f("paragraphs of the lead", `<p class="lead">`, 2)
	f("charts named", "<figcaption id=", 4)
	f("word for those without script", "<noscript>", 4)
	f("tables: one for each chart and one more", "<table>", 5)
	f("tables named", "<caption id=", 5)
	f("column heads", `<th scope="col"`, 4+6+4+3+10)
	rows := 18 + 4 + 120 + 4 + 16
	f("rows: every point and every row", "<tr", rows+5)
	f("marked rows", `<tr class="marked">`, 2)
	f("what the mark means", `<p class="marked">on the Pareto front`, 1)
	f("units in the cells", `<td class="number">1.4 ms</td>`, 1)

	ids := texts(regexp.MustCompile(` id="([^"]*)"`), document)
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			t.Errorf("id %q: got it twice, want it once", id)
		}
	}
	for _, id := range texts(regexp.MustCompile(` aria-labelledby="([^"]*)"`), document) {
		if !slices.Contains(ids, id) {
			t.Errorf("aria-labelledby %q: nothing has this id", id)
		}
	}
}

func TestChartWithoutPointsSaysSo(t *testing.T) {
	document := written(t, &Page{Title: "t", Sections: []Section{{Chart: &Chart{Title: "c", Series: []Series{{Name: "none"}}}}}})
	if !strings.Contains(document, "There is nothing to draw.") || strings.Contains(document, "application/json") {
		t.Errorf("got\n%s\nwant a word instead of a drawing", document)
	}
}

func TestTableWithoutCaptionTakesTheHeading(t *testing.T) {
	p := &Page{Title: "t", Sections: []Section{{Heading: "Sizes", Table: &Table{Columns: []Column{{Name: "c"}}}}}}
	if got := written(t, p); !strings.Contains(got, ">Sizes</caption>") {
		t.Errorf("got\n%s\nwant the caption Sizes", got)
	}
	if p.Sections[0].Table.Caption != "" {
		t.Error("Write has changed the page")
	}
}

func TestBarsAreDrawnAsLongAsTheirShare(t *testing.T) {
	var out bytes.Buffer
	p := &Page{Title: "A", Sections: []Section{{Heading: "B", Bars: []Bar{
		{Name: "<always>", Text: "43,370 writes", Share: 1}, {Name: "edgeproxy", Text: "5,512 writes", Share: 0.12709, Marked: true},
	}}}}
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<li><span>&lt;always&gt;</span>`, `<rect width="100.00" height="10"/>`, `<li class="marked"><span>edgeproxy</span>`, `<rect width="12.71"`, `<span>5,512 writes</span>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		p.Sections[0].Bars[1].Share = bad
		if err := p.Write(io.Discard); err == nil || !strings.Contains(err.Error(), `bar "edgeproxy"`) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}
