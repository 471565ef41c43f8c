package archtest

import (
	"bytes"
	"flag"
	"fmt"
	"go/doc"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/rooms.md anew")

// roomsPage is the page that is made of the table of rooms and of the package comments.
const roomsPage = "../../../docs/rooms.md"

const roomsHead = `# The rooms

A room is a folder with Go files. This page has the first sentence of each room's package comment, and which other rooms it may
import. [ARCHITECTURE.md](ARCHITECTURE.md) says how they work together.

The page is generated: ` + "`go test ./internal/test/archtest -update`" + ` writes it from the comments and from
[rooms_test.go](../internal/test/archtest/rooms_test.go), and ` + "`make arch`" + ` fails if it is out of date. *Tests*: only tests import the room.

| room | what it does, or the question it answers | may import |
|---|---|---|
`

// preamble is how package comments begin.
var preamble = regexp.MustCompile(`^(Package|Command) \S+ (answers( one question)?: )?`)

// mostImports is how many imports the page names of one room.
const mostImports = 9

func TestThePageOfRoomsIsUpToDate(t *testing.T) {
	tr := house(t)
	var page strings.Builder
	page.WriteString(roomsHead)
	for _, name := range slices.Sorted(maps.Keys(rooms())) {
		fmt.Fprintf(&page, "| [%s](../%s) | %s | %s |\n", name, name, tr.synopsis(t, name), mayImport(rooms()[name]))
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

// mayImport lists the rooms that r may import.
func mayImport(r room) string {
	var names []string
	for _, name := range slices.Sorted(slices.Values(r.ours)) {
		names = append(names, strings.TrimPrefix(name, "internal/"))
	}
	switch {
	case r.testOnly:
		return "*tests*"
	case len(names) > mostImports:
		return fmt.Sprintf("%d rooms", len(names))
	}
	return strings.Join(names, ", ")
}

func TestTheMapNamesEachInternalRoom(t *testing.T) {
	text, err := os.ReadFile("../../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n## The rooms\n"))
	section, _, _ := bytes.Cut(text, []byte("\n## "))
	for name := range rooms() {
		room, below := strings.CutPrefix(name, "internal/")
		if !below {
			continue
		}
		last := room[strings.LastIndexByte(room, '/')+1:] // index of cache/disk
		if !bytes.Contains(section, []byte("`"+room+"`")) && !bytes.Contains(section, []byte("`"+last+"`")) {
			t.Errorf("docs/ARCHITECTURE.md does not name %s", name)
		}
	}
}
