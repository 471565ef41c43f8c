package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestImportsKeepTheTable(t *testing.T) {
	for _, problem := range importProblems(house(t), rooms()) {
		t.Error(problem)
	}
}

// importProblems holds every import of the tree against the table.
func importProblems(tr *tree, table map[string]room) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range tr.files {
		r, known := table[f.room]
		if !known && !seen[f.room] {
			out = append(out, f.room+": no room of this name is in the table: enter it in rooms_test.go")
		}
		seen[f.room] = true
		if !known {
			continue
		}
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil { // the parser takes no such import
				target = spec.Path.Value
			}
			if why := forbidden(f, r, target, table); why != "" {
				out = append(out, fmt.Sprintf("%s: %s imports %s: %s", tr.at(spec.Pos()), f.room, target, why))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !seen[name] {
			out = append(out, name+": in the table, but there is no such room")
		}
	}
	return out
}

// forbidden says why f, a file of r, may not import target; "" if it may.
func forbidden(f file, r room, target string, table map[string]room) string {
	name, own := strings.CutPrefix(target, module+"/")
	first, _, _ := strings.Cut(target, "/")
	switch {
	case own && strings.HasPrefix(name, "cmd/"):
		return "nothing imports a command"
	case target == "C":
		return "no room needs it"
	case target == "unsafe" && r.unsafe && !f.test:
		return ""
	case target == "unsafe":
		return "this room does without it"
	case f.test || r.testOnly:
		return ""
	case slices.Contains(r.never, target):
		return "this room does without it"
	case own && table[name].testOnly:
		return "that room is for tests only"
	case own && !slices.Contains(r.ours, name):
		return "not one of its rooms in the table"
	case !own && strings.Contains(first, ".") && !slices.ContainsFunc(r.third, func(m string) bool {
		return target == m || strings.HasPrefix(target, m+"/")
	}):
		return "not one of its modules in the table"
	}
	return ""
}
