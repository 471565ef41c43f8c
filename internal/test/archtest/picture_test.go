package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	architecture = "../../../docs/ARCHITECTURE.md"
	pictureFrom  = "<!-- The picture is made from the imports: go test ./internal/test/archtest -update -->\n```\n"
	pictureTo    = "```\n"
)

// The picture of the wings in ARCHITECTURE.md shows the imports that the source has.
func TestThePictureShowsTheImports(t *testing.T) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), pictureFrom)
	_, after, closed := strings.Cut(rest, pictureTo)
	if !found || !closed {
		t.Fatal("docs/ARCHITECTURE.md has no place for the picture")
	}
	checkMade(t, architecture, before+pictureFrom+picture(house(t).importsOfWings())+pictureTo+after)
}

// importsOfWings returns, for each wing of the program, the wings that it imports.
func (tr *tree) importsOfWings() map[string]map[string]bool {
	wings := map[string]map[string]bool{}
	for _, f := range tr.files {
		from := nameOfWing(f.room)
		if from == "" || f.test {
			continue
		}
		if wings[from] == nil {
			wings[from] = map[string]bool{}
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			room, ours := strings.CutPrefix(path, module+"/")
			if to := nameOfWing(room); err == nil && ours && to != "" && to != from {
				wings[from][to] = true
			}
		}
	}
	return wings
}

// nameOfWing returns the wing of a room of the program, and nothing for what only tests and scripts use.
func nameOfWing(room string) string {
	switch {
	case room == "config", room == "cmd/edgeproxy":
		return room
	case strings.HasPrefix(room, "internal/test/"), room == "internal/test":
		return ""
	}
	below, ok := strings.CutPrefix(room, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(below, "/")
	return name
}

// picture draws who imports whom. A wing stands above all that it imports, so no mark is left of the steps.
func picture(wings map[string]map[string]bool) string {
	names := slices.SortedFunc(maps.Keys(wings), func(a, b string) int {
		return cmp.Or(floor(wings, b)-floor(wings, a), strings.Compare(a, b))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s", "")
	for _, name := range names[1:] {
		fmt.Fprintf(&b, " %s", name)
	}
	b.WriteString("\n")
	for _, from := range names {
		line := fmt.Sprintf("%-14s", from)
		for _, to := range names[1:] {
			mark := " "
			if wings[from][to] {
				mark = "●"
			}
			left := len(to) / 2
			line += " " + strings.Repeat(" ", left) + mark + strings.Repeat(" ", len(to)-left-1)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// floor is how many wings lie below one another under a wing.
func floor(wings map[string]map[string]bool, name string) int {
	highest := 0
	for below := range wings[name] {
		highest = max(highest, floor(wings, below)+1)
	}
	return highest
}

func TestAPictureHasEachImportOnce(t *testing.T) {
	got := picture(map[string]map[string]bool{"top": {"middle": true, "low": true}, "middle": {"low": true}, "low": {}})
	want := "               middle low\n" +
		"top               ●    ●\n" +
		"middle                 ●\n" +
		"low\n"
	if got != want {
		t.Errorf("picture: got\n%s\nwant\n%s", got, want)
	}
}
