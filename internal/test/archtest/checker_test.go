package archtest

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// source makes an in-memory module of name, text pairs.
func source(t *testing.T, pairs ...string) *tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module edgeproxy\n")}}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	tr, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestImportCheckerCatches proves that each way of breaking the law is seen.
func TestImportCheckerCatches(t *testing.T) {
	l := law{
		wings: []wing{
			{name: "internal/b"},
			{name: "internal/a", imports: []string{"internal/b"}},
			{name: "cmd/x", imports: []string{"internal/a", "internal/b"}},
			{name: "internal/t"},
		},
		modules:  map[string][]string{"example.com/lib": {"internal/a"}},
		testOnly: []string{"internal/t"},
		unsafe:   []string{"internal/b"},
		without:  map[string][]string{"internal/b": {"net/http"}},
	}
	whole := []string{ // a house without a fault
		"cmd/x/main.go", "package main\nimport _ \"edgeproxy/internal/a\"\n",
		"internal/a/a.go", "package a\nimport (\n_ \"edgeproxy/internal/b\"\n_ \"example.com/lib/sub\"\n_ \"net/http\"\n)\n",
		"internal/b/b.go", "package b\n",
		"internal/t/t.go", "package t\nimport _ \"example.com/other\"\n",
	}
	f := func(name, path, text string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got := l.problems(source(t, append(slices.Clone(whole), path, text)...))
			if !slices.Equal(got, want) {
				t.Errorf("problems: got %q, want %q", got, want)
			}
		})
	}

	f("nothing wrong", "internal/b/more.go", "package b\n")
	f("a wing that is not its neighbour", "internal/b/more.go", "package b\nimport _ \"edgeproxy/internal/a\"\n",
		"internal/b/more.go:2: internal/b imports edgeproxy/internal/a: not one of its wings")
	f("a room below one that is allowed", "internal/a/more.go", "package a\n\nimport _ \"edgeproxy/internal/b/deep\"\n")
	f("a room of its own wing", "internal/a/deep/more.go", "package deep\n\nimport _ \"edgeproxy/internal/a\"\n")
	f("a wing whose name begins like an allowed one", "internal/a/more.go", "package a\n\nimport _ \"edgeproxy/internal/bb\"\n",
		"internal/a/more.go:3: internal/a imports edgeproxy/internal/bb: not one of its wings")
	f("a module it may not have", "internal/b/more.go", "package b\nimport _ \"example.com/lib\"\n",
		"internal/b/more.go:2: internal/b imports example.com/lib: not one of its modules")
	f("a module that the room above has", "internal/a/deep/more.go", "package deep\nimport _ \"example.com/lib\"\n",
		"internal/a/deep/more.go:2: internal/a/deep imports example.com/lib: not one of its modules")
	f("a package that it does without", "internal/b/more.go", "package b\nimport _ \"net/http\"\n",
		"internal/b/more.go:2: internal/b imports net/http: this room does without it")
	f("a module whose name begins like an allowed one", "internal/a/more.go", "package a\nimport _ \"example.com/library\"\n",
		"internal/a/more.go:2: internal/a imports example.com/library: not one of its modules")
	f("a file behind a build tag", "internal/b/more.go", "//go:build never\n\npackage b\nimport _ \"example.com/lib\"\n",
		"internal/b/more.go:4: internal/b imports example.com/lib: not one of its modules")
	f("a room for tests in code", "internal/a/more.go", "package a\nimport _ \"edgeproxy/internal/t\"\n",
		"internal/a/more.go:2: internal/a imports edgeproxy/internal/t: that room is for tests only")
	f("a command in a test", "internal/a/a_test.go", "package a\nimport _ \"edgeproxy/cmd/x\"\n",
		"internal/a/a_test.go:2: internal/a imports edgeproxy/cmd/x: nothing imports a command")
	f("unsafe in a test", "internal/a/a_test.go", "package a\nimport _ \"unsafe\"\n",
		"internal/a/a_test.go:2: internal/a imports unsafe: this room does without it")
	f("unsafe where memory is laid out", "internal/b/more.go", "package b\nimport _ \"unsafe\"\n")
	f("unsafe in a test beside that", "internal/b/b_test.go", "package b\nimport _ \"unsafe\"\n",
		"internal/b/b_test.go:2: internal/b imports unsafe: this room does without it")
	f("anything else in a test", "internal/b/b_test.go", "package b\nimport (\n_ \"example.com/other\"\n_ \"edgeproxy/internal/a\"\n_ \"edgeproxy/internal/t\"\n)\n")
	f("a room nobody entered", "internal/c/c.go", "package c\n", "internal/c: stands in no wing: enter it in wings_test.go")
	f("a folder the go command leaves out", "internal/b/testdata/c.go", "package c\nimport _ \"example.com/lib\"\n")
}

func TestImportCheckerHoldsTheLawAgainstTheTree(t *testing.T) {
	l := law{
		wings:    []wing{{name: "internal/a", imports: []string{"internal/b"}}, {name: "internal/b"}, {name: "internal/gone"}},
		modules:  map[string][]string{"example.com/lib": {"internal/a"}},
		testOnly: []string{"internal/b/old"},
	}
	got := l.problems(source(t, "internal/a/a.go", "package a\n", "internal/b/b.go", "package b\n"))
	want := []string{
		"internal/a: imports internal/b, which must stand before it",
		"internal/gone: named by the law, but there is no such wing",
		"internal/b/old: named by the law, but there is no such room",
		"internal/a: may import example.com/lib, and does not",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems: got %q, want %q", got, want)
	}
}

func TestLoadLeavesOutNestedModules(t *testing.T) {
	tr := source(t, "tools/go.mod", "module edgeproxy/tools\n", "tools/t.go", "package t\n", "internal/a/a.go", "package a\n")
	if len(tr.files) != 1 || tr.files[0].room != "internal/a" {
		t.Errorf("files: got %d, want only internal/a/a.go", len(tr.files))
	}
}

func TestLoadFailsOnSourceThatDoesNotParse(t *testing.T) {
	_, err := load(fstest.MapFS{"a/a.go": {Data: []byte("package\n")}})
	if err == nil || !strings.Contains(err.Error(), "a/a.go") {
		t.Errorf("error: got %v, want one that names a/a.go", err)
	}
}

// TestShapeCheckerCatches proves that each rule on shape sees its violation and
// lets the limit itself pass.
func TestShapeCheckerCatches(t *testing.T) {
	f := func(name string, problems func(*tree) []string, path, text string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			if got := problems(source(t, path, text)); !slices.Equal(got, want) {
				t.Errorf("problems: got %q, want %q", got, want)
			}
		})
	}
	lines := func(n int) string { return strings.Repeat("\n", n) }

	f("a comment", uncommented, "a/a.go", "// Package a counts.\npackage a\n")
	f("a command's comment", uncommented, "a/a.go", "// Command a counts.\npackage main\n")
	f("no comment", uncommented, "a/a.go", "package a\n",
		"a: no comment that begins with Package NAME, or Command for a main package")
	f("a licence is no comment", uncommented, "a/a.go", "// Copyright.\n\npackage a\n",
		"a: no comment that begins with Package NAME, or Command for a main package")
	f("another package's comment", uncommented, "a/a.go", "// Package ab counts.\npackage a\n",
		"a: no comment that begins with Package NAME, or Command for a main package")

	f("a file at the limit", longFiles, "a/a.go", "package a"+lines(400))
	f("a file over it", longFiles, "a/a.go", "package a"+lines(401), "a/a.go: 401 lines, want at most 400")
	f("a test file at its limit", longFiles, "a/a_test.go", "package a"+lines(900))
	f("a test file over it", longFiles, "a/a_test.go", "package a"+lines(901), "a/a_test.go: 901 lines, want at most 900")

	f("a function at the limit", longFuncs, "a/a.go", "package a\nfunc f() {"+lines(71)+"}\n")
	f("a function over it", longFuncs, "a/a.go", "package a\nfunc f() {"+lines(72)+"}\n",
		"a/a.go:2: a function of 71 lines, want at most 70")
	f("a function in a variable", longFuncs, "a/a.go", "package a\nvar f = func() {"+lines(72)+"}\n",
		"a/a.go:2: a function of 71 lines, want at most 70")
	f("a long test", longFuncs, "a/a_test.go", "package a\nfunc f() {"+lines(90)+"}\n")

	f("init", surprises, "a/a.go", "package a\nfunc init() {}\n",
		"a/a.go:2: init runs before anybody asked for it; give New the work")
	f("init in a test", surprises, "a/a_test.go", "package a\nfunc init() {}\n",
		"a/a_test.go:2: init runs before anybody asked for it; give New the work")
	f("a method called init", surprises, "a/a.go", "package a\ntype t int\nfunc (t) init() {}\n")
	f("a comment with a noun", leaning, "a/a.go", "package a\n\nvar n int // length of the head\n\n// m counts heads, also\n// of answers.\nvar m int\n")
	f("a comment beside without one", leaning, "a/a.go", "package a\n\nvar n int // of the head\n",
		"a/a.go:3: begins without a noun: // of the head")
	f("a comment above without one", leaning, "a/a.go", "package a\n\n// by counts heads.\nvar by int\n",
		"a/a.go:3: begins without a noun: // by counts heads.")
	f("a reason for the linter without one", leaning, "a/a.go", "package a\n\nvar n = 1 //nolint:mnd // as above\n",
		"a/a.go:3: begins without a noun: //nolint:mnd // as above")
	f("a dot import", surprises, "a/a.go", "package a\nimport . \"fmt\"\n",
		"a/a.go:2: a dot import hides where a name comes from")
}
