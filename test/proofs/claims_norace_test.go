//go:build !race

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// usualTraces returns the folder with the traces, and skips the test where it is
// not there.
func usualTraces(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TRACES")
	if dir == "" {
		dir = filepath.Join("..", "shared", "traces")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the traces are not there")
	}
	return dir
}

// Everything that is claimed must hold. The program it runs is none that the race
// detector would see into.
func TestWhatIsClaimedHolds(t *testing.T) {
	s := simulator{traces: usualTraces(t), program: edgeproxy(t), objects: usualObjects}
	for _, prove := range proofs() {
		p, err := prove(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(p.title, func(t *testing.T) {
			for _, c := range p.claims {
				if !c.holds {
					t.Errorf("%s: got %s", c.says, c.found)
				}
			}
			var table bytes.Buffer
			if err := p.write(&table); err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", &table)
		})
	}
}
