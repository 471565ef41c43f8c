package edgetest

import (
	"os"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/filetier"
)

// openFiles returns where the edge's content lies: nil is memory.
func (e *Edge) openFiles(tb testing.TB, o *Options) cache.Medium {
	tb.Helper()
	if !o.Files {
		return nil
	}
	var err error
	e.folder = tb.TempDir()
	e.files, err = filetier.Open(e.folder, o.MaxObjectBytes)
	must(tb, err)
	return e.files
}

// Folder is where the content of e lies; "" is memory.
func (e *Edge) Folder() string { return e.folder }

// checkFiles holds the folder of a stopped edge to what its store has: no draft is left, and no
// file that no entry has.
func (e *Edge) checkFiles(tb testing.TB) {
	tb.Helper()
	if e.files == nil {
		return
	}
	left, err := os.ReadDir(e.folder)
	must(tb, err)
	files := e.files.Files()
	if e.files.Drafts() != 0 || int64(len(left)) != files || files > e.Store.Objects() {
		tb.Errorf("files: got %d in the folder, %d of them complete and %d drafts, of %d objects", len(left), files, e.files.Drafts(), e.Store.Objects())
	}
}
