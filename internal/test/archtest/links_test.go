package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// documents returns the pages that people read, by path from the top of the tree.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "internal/*/DESIGN.md", "config/DESIGN.md", "loadtest/*.md", "test/*/*.md"} {
		files, err := filepath.Glob(filepath.Join("../../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.Clean(f)] = fence.ReplaceAllString(string(text), "")
		}
	}
	if len(pages) < 10 {
		t.Fatalf("got %d pages, want those of the project", len(pages))
	}
	return pages
}

// anchors returns the names by which the headings of a page are linked to, as GitHub forms them.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	pages := documents(t)
	links := 0
	for at, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue // a link to the web
			}
			links++
			to := at
			if file != "" {
				to = filepath.Join(filepath.Dir(at), file)
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links to %s, which is not there", at, m[1])
					continue
				}
			}
			if page, ok := pages[to]; ok && anchor != "" && !anchors(page)[anchor] {
				t.Errorf("%s links to %s, which has no such heading", at, m[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("got %d links, want those of the project", links)
	}
}

func TestContentsOfTheOperatorsPageAreComplete(t *testing.T) {
	pages := documents(t)
	contents, headings := pages[filepath.Clean("../../../docs/operating.md")], 0
	for at, page := range pages {
		if filepath.Dir(at) != filepath.Clean("../../../docs/operating") {
			continue
		}
		for _, m := range heading.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[0], "## ") {
				continue
			}
			headings++
			if !strings.Contains(contents, "["+m[1]+"](operating/"+filepath.Base(at)+"#") {
				t.Errorf("the contents of docs/operating.md lack %q of %s", m[1], filepath.Base(at))
			}
		}
	}
	if headings < 40 {
		t.Errorf("got %d headings, want those of all pages", headings)
	}
}

var goFile = regexp.MustCompile(`[A-Za-z0-9_/.]*[a-z0-9_]\.go\b`)

// A file that was renamed was still sent to by the map.
func TestFilesNamedInDocumentsExist(t *testing.T) {
	tree := house(t)
	files := map[string]bool{}
	for _, f := range tree.files {
		for name := f.name; ; { // each of its ends is a name: proxy/selection.go may stand for internal/proxy/selection.go
			files[name] = true
			_, end, ok := strings.Cut(name, "/")
			if !ok {
				break
			}
			name = end
		}
	}
	for at, text := range documents(t) {
		if strings.Contains(at, "decisions") || strings.HasSuffix(at, "CHANGELOG.md") {
			continue // they speak of their time
		}
		for _, name := range goFile.FindAllString(text, -1) {
			if !files[strings.TrimLeft(name, "./")] {
				t.Errorf("%s names %s, which is not there", at, name)
			}
		}
	}
}

var roomPath = regexp.MustCompile(`(?:^|[^\w/.-])(internal/[a-z0-9_/]*[a-z0-9_](?:\.go)?)`)

// A room that was moved was still sent to by operators' pages.
func TestRoomsNamedInDocumentsExist(t *testing.T) {
	named := 0
	for at, text := range documents(t) {
		if strings.Contains(at, "decisions") || strings.HasSuffix(at, "CHANGELOG.md") {
			continue // they speak of their time
		}
		for _, m := range roomPath.FindAllStringSubmatch(text, -1) {
			named++
			if _, err := os.Stat(filepath.Join("../../..", m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", at, m[1])
			}
		}
	}
	if named < 10 {
		t.Errorf("documents name %d rooms, want those of the project", named)
	}
}
