package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Limits in lines. The function limit is the linter's too (funlen): the lines
// between the first and the last, comments included.
const (
	maxFileLines     = 400
	maxTestFileLines = 900
	maxFuncLines     = 70
)

func TestShape(t *testing.T) {
	tr := house(t)
	f := func(name string, problems func(*tree) []string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			for _, problem := range problems(tr) {
				t.Error(problem)
			}
		})
	}

	f("every package has a comment", uncommented)
	f("no file is too long", longFiles)
	f("no function is too long", longFuncs)
	f("no init, no dot import", surprises)
	f("comments name their noun", leaning)
}

// uncommented lists the rooms whose package has no comment, or one that does
// not begin as godoc expects. A room of test files alone may have it there.
func uncommented(tr *tree) []string {
	seen := map[string]bool{}
	for _, f := range tr.files {
		begins := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			begins = "Command "
		}
		seen[f.room] = seen[f.room] || strings.HasPrefix(f.ast.Doc.Text(), begins)
	}
	var out []string
	for _, room := range slices.Sorted(maps.Keys(seen)) {
		if !seen[room] {
			out = append(out, room+": no comment that begins with Package NAME, or Command for a main package")
		}
	}
	return out
}

func longFiles(tr *tree) []string {
	var out []string
	for _, f := range tr.files {
		limit := maxFileLines
		if f.test {
			limit = maxTestFileLines
		}
		if f.lines > limit {
			out = append(out, fmt.Sprintf("%s: %d lines, want at most %d", f.name, f.lines, limit))
		}
	}
	return out
}

func longFuncs(tr *tree) []string {
	var out []string
	for _, f := range tr.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				lines := tr.fset.Position(n.End()).Line - tr.fset.Position(n.Pos()).Line - 1
				if lines > maxFuncLines {
					out = append(out, fmt.Sprintf("%s: a function of %d lines, want at most %d", tr.at(n.Pos()), lines, maxFuncLines))
				}
			}
			return true
		})
	}
	return out
}

func surprises(tr *tree) []string {
	var out []string
	for _, f := range tr.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, tr.at(fn.Pos())+": init runs before anybody asked for it; give New the work")
			}
		}
		for _, spec := range f.ast.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				out = append(out, tr.at(spec.Pos())+": a dot import hides where a name comes from")
			}
		}
	}
	return out
}

// withoutNoun is how a comment begins that leans on the line above it or on the name beside it.
var withoutNoun = regexp.MustCompile(`(?:^|\s)//\s+(?:of|those|that|as|by|behind)\b`)

// leaning lists the comments that begin without their noun. A line that goes on with the comment above it may begin with any word.
func leaning(tr *tree) []string {
	var out []string
	for _, f := range tr.files {
		for _, group := range f.ast.Comments {
			if first := group.List[0]; withoutNoun.MatchString(first.Text) {
				out = append(out, tr.at(first.Pos())+": begins without a noun: "+first.Text)
			}
		}
	}
	return out
}
