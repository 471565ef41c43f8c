package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// file is one parsed source file.
type file struct {
	name  string // slash-separated, from the module's root
	room  string // the folder it is in
	test  bool
	lines int
	ast   *ast.File
}

// tree is every source file of one module.
type tree struct {
	fset  *token.FileSet
	files []file
}

// at names the place of pos as path:line.
func (tr *tree) at(pos token.Pos) string {
	p := tr.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// rooms returns the folders with Go files, sorted.
func (tr *tree) rooms() []string {
	seen := map[string]bool{}
	for _, f := range tr.files {
		seen[f.room] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// load parses every Go file of the module at the root of fsys, whatever its
// build tags.
func load(fsys fs.FS) (*tree, error) {
	tr := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(fsys, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		return tr.parse(fsys, name)
	})
	if err != nil {
		return nil, fmt.Errorf("load the module's source: %w", err)
	}
	return tr, nil
}

// skipped tells the folders the go command leaves out of ./... as well.
func skipped(fsys fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (tr *tree) parse(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(tr.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.files = append(tr.files, file{
		name:  name,
		room:  path.Dir(name),
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")),
		ast:   parsed,
	})
	return nil
}

// loadHouse loads this module, once for all tests: they only read it.
var loadHouse = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../../..")) })

// house returns this module.
func house(t *testing.T) *tree {
	t.Helper()
	if _, err := os.Stat("../../../go.mod"); err != nil {
		t.Fatalf("the module's root is not where it was: %v", err)
	}
	tr, err := loadHouse()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
