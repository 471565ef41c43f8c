package edgetest

import (
	"os"
	"slices"
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
	if e.folder = o.Folder; o.Folder == "" {
		e.folder = tb.TempDir()
		e.files, err = filetier.Open(e.folder, o.LargestFile)
	} else {
		e.files, err = filetier.Reopen(e.folder, o.LargestFile, e.purges.Identity())
	}
	must(tb, err)
	return e.files
}

// restore puts back what an earlier edge has left in the folder.
func (e *Edge) restore(tb testing.TB, o *Options) {
	tb.Helper()
	if o.Folder == "" {
		return
	}
	var err error
	e.Restored, err = e.files.Restore(e.Store)
	must(tb, err)
}

// Folder is where the content of e lies; "" is memory.
func (e *Edge) Folder() string { return e.folder }

// Kept returns how many pieces of content are being written to files, and how many are complete.
func (e *Edge) Kept() (drafts, files int64) { return e.files.Drafts(), e.files.Files() }

// checkFiles holds the folder of a stopped edge to what its store has: no draft is left, and no
// file that no entry has.
func (e *Edge) checkFiles(tb testing.TB) {
	tb.Helper()
	if e.files == nil {
		return
	}
	left, err := os.ReadDir(e.folder)
	must(tb, err)
	left = slices.DeleteFunc(left, func(f os.DirEntry) bool { return e.options.Folder != "" && filetier.Beside(f.Name()) })
	files := e.files.Files()
	if e.files.Drafts() != 0 || int64(len(left)) != files || files > e.Store.Objects() {
		tb.Errorf("files: got %d in the folder, %d of them complete and %d drafts, of %d objects", len(left), files, e.files.Drafts(), e.Store.Objects())
	}
}
