package packaging

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/reason"
)

var (
	scrapedMetric = regexp.MustCompile(`(?m)^# TYPE (edgeproxy_\w+) `)
	firstColumn   = regexp.MustCompile(`(?m)^\| (edgeproxy_[^|]*) \|`)
	labels        = regexp.MustCompile(`\{[^}]*\}`)
)

// manual is all of docs/operating.
func manual(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs/operating/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("got %d pages, %v", len(pages), err)
	}
	var all strings.Builder
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// documented are the metrics in the tables of the manual. A row that begins with edgeproxy_a_b_c has _d_e for the metric that begins as
// that one and ends so: edgeproxy_d_e, edgeproxy_a_d_e or edgeproxy_a_b_d_e.
func documented(text string) (rows [][]string) {
	for _, m := range firstColumn.FindAllStringSubmatch(text, -1) {
		var full string
		for _, name := range strings.FieldsFunc(labels.ReplaceAllString(m[1], ""), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			if !strings.HasPrefix(name, "_") {
				full = name
				rows = append(rows, []string{name})
				continue
			}
			var may []string
			for i, c := range full {
				if c == '_' {
					may = append(may, full[:i]+name)
				}
			}
			rows = append(rows, may)
		}
	}
	return rows
}

// source is all of the program's own source.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, top := range []string{"cmd", "internal"} {
		err := fs.WalkDir(os.DirFS(root), top, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				all.WriteString(text(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestTheManualHasEveryMetric that a scrape of the program has, with everything on, and names none that the source does not. The table is
// written by hand, for a sentence on a metric says what to do with it.
func TestTheManualHasEveryMetric(t *testing.T) {
	t.Parallel()
	served := serve(t)
	res, err := http.Get("http://" + served.Addresses[0] + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	scraped := scrapedMetric.FindAllStringSubmatch(scrape(t, served.Admin), -1)
	if len(scraped) < 80 {
		t.Errorf("got %d metrics in a scrape, want those of everything", len(scraped))
	}
	page, code := manual(t), source(t)
	rows := documented(page)
	for _, m := range scraped {
		named := func(may []string) bool { return slices.Contains(may, m[1]) }
		if !strings.Contains(page, m[1]) && !slices.ContainsFunc(rows, named) {
			t.Errorf("docs/operating has no metric %s", m[1])
		}
	}
	for _, may := range rows {
		if !strings.HasSuffix(may[0], "_…") && !slices.ContainsFunc(may, func(name string) bool { return isIn(code, name) }) {
			t.Errorf("docs/operating has a metric %s, and there is none", may[len(may)-1])
		}
	}
}

// isIn reports whether the source has the name, or its end, which a function puts behind the rest.
func isIn(code, name string) bool {
	for end := name; ; {
		if strings.Contains(code, `"`+end+`"`) {
			return true
		}
		var more bool
		if _, end, more = strings.Cut(end, "_"); !more {
			return false
		}
	}
}

// TestTheManualHasEveryReason, and no other.
func TestTheManualHasEveryReason(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(text(t, "docs/operating/watch.md"), "| reason | meaning | what to do |\n|---|---|---|\n")
	if !found {
		t.Fatal("docs/operating/watch.md has no table of reasons")
	}
	words := map[string]bool{}
	for line := range strings.Lines(table) {
		column, ok := strings.CutPrefix(line, "| ")
		if !ok {
			break
		}
		column, _, _ = strings.Cut(column, " |")
		for word := range strings.SplitSeq(column, ", ") {
			words[word] = true
		}
	}
	for r := reason.None + 1; r < reason.Count; r++ {
		if !words[r.String()] {
			t.Errorf("docs/operating/watch.md has no reason %s", r)
		}
		delete(words, r.String())
	}
	for word := range words {
		t.Errorf("docs/operating/watch.md has a reason %s, and there is none", word)
	}
}
