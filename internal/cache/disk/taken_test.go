//go:build unix

package disk

import (
	"io"
	"os"
	"syscall"
	"testing"

	"edgeproxy/internal/cache/statefile"
)

// taken returns what a file takes on the disk.
func taken(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }

func writeState(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := statefile.Write(path, func(w io.Writer) error { _, err := w.Write(content); return err }); err != nil {
		t.Fatal(err)
	}
}
