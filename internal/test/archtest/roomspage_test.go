package archtest

import (
	"flag"
	"fmt"
	"go/doc"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/rooms.md anew")

// roomsPage is the page that is made of the table of rooms and of the package comments.
const roomsPage = "../../../docs/rooms.md"

const roomsHead = `# The rooms

A room is a folder with Go files; a wing is a folder whose rooms stand together. This page has the first sentence of each room's package
comment. [ARCHITECTURE.md](ARCHITECTURE.md) says how they work together.

The page is generated: ` + "`go test ./internal/test/archtest -update`" + ` writes it from the comments and from
[wings_test.go](../internal/test/archtest/wings_test.go), and ` + "`make arch`" + ` fails if it is out of date.
`

// preamble is how package comments begin.
var preamble = regexp.MustCompile(`^(Package|Command) \S+ (answers( one question)?: )?`)

func TestThePageOfRoomsIsUpToDate(t *testing.T) {
	tr := house(t)
	rooms := tr.rooms()
	var page strings.Builder
	page.WriteString(roomsHead)
	for _, w := range wings() {
		fmt.Fprintf(&page, "\n## %s\n\n", w.name)
		if len(w.imports) > 0 {
			fmt.Fprintf(&page, "May import %s.\n\n", strings.ReplaceAll(strings.Join(w.imports, ", "), "internal/", ""))
		}
		page.WriteString("| room | what it does, or the question it answers |\n|---|---|\n")
		for _, room := range rooms {
			if within(w.name, room) {
				fmt.Fprintf(&page, "| [%s](../%s) | %s |\n", room, room, tr.synopsis(t, room))
			}
		}
	}
	if *update {
		if err := os.WriteFile(roomsPage, []byte(page.String()), 0o644); err != nil { //nolint:gosec // a page of the project
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(roomsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != page.String() {
		t.Error("docs/rooms.md is out of date: run go test ./internal/test/archtest -update")
	}
}

// synopsis returns the first sentence of the package comment of a room.
func (tr *tree) synopsis(t *testing.T, room string) string {
	t.Helper()
	for _, f := range tr.files {
		if f.room == room && f.ast.Doc != nil {
			if text := preamble.ReplaceAllString(new(doc.Package).Synopsis(f.ast.Doc.Text()), ""); text != "" {
				return strings.ReplaceAll(text, "|", `\|`)
			}
		}
	}
	t.Errorf("%s: want a package comment that begins with a sentence", room)
	return ""
}

func TestTheMapNamesEachWing(t *testing.T) {
	text, err := os.ReadFile("../../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wings() {
		if name := strings.TrimPrefix(w.name, "internal/"); !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "["+name+"]") {
			t.Errorf("docs/ARCHITECTURE.md does not name %s", w.name)
		}
	}
}
