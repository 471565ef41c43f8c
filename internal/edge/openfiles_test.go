package edge

import (
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/config"
)

// A reload that changed a route was refused, because the directory of the disk tier had gone meanwhile and could not be made.
func TestAReloadWasRefusedForADirectoryThatIsInForce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.Symlink(path+".gone", path); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Cache.Disk.Paths = []string{path}
	if got := diskFaults(c, nil); len(got) == 0 {
		t.Error("at a start: got no fault, want one")
	}
	if got := diskFaults(c, c); len(got) != 0 {
		t.Errorf("at a reload: got %v, want none", got)
	}
	c.TLS.ACME.Names, c.TLS.ACME.Storage = []string{"www.example.com"}, path
	if got := acmeFaults(c, nil); len(got) == 0 {
		t.Error("ACME, at a start: got no fault, want one")
	}
	if got := acmeFaults(c, c); len(got) != 0 {
		t.Errorf("ACME, at a reload: got %v, want none", got)
	}
}
