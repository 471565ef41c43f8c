package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestTheModuleCanBeRenamed renames it in a copy of the tree, twice, and lists all packages with their imports.
func TestTheModuleCanBeRenamed(t *testing.T) {
	testkit.Slow(t, "it copies the tree")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	top := t.TempDir()
	run(t, exec.Command("cp", "-R", filepath.Join(root, "cmd"), filepath.Join(root, "config"), filepath.Join(root, "internal"), filepath.Join(root, "loadtest"),
		filepath.Join(root, "scripts"), filepath.Join(root, "test"), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"), filepath.Join(root, ".golangci.yml"), top))
	for _, name := range []string{"example.com/team/edgeproxy", "code.example.org/edge.proxy"} {
		run(t, exec.Command(filepath.Join(top, "scripts/module.sh"), name))
		list := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{.Path}}{{end}} {{.ImportPath}}", "./...")
		list.Dir = top
		var stderr bytes.Buffer
		list.Stderr = &stderr
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &stderr)
		}
		ours := 0
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "edgeproxy ") || strings.HasPrefix(line, name+" edgeproxy/") {
				t.Errorf("%s: has its old name: %s", name, line)
			}
			if strings.HasPrefix(line, name+" ") {
				ours++
			}
		}
		if ours < 80 {
			t.Errorf("%s: %d packages have the new name, want 80 or more", name, ours)
		}
	}
	for _, bad := range []string{"", "edgeproxy", "/example.com/x", "example.com/x/", "example.com/a b", "example.com//x"} {
		out, err := exec.Command(filepath.Join(top, "scripts/module.sh"), bad).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "must be a path that begins with a host") {
			t.Errorf("%q: got %v, %s", bad, err, out)
		}
	}
	if b, err := os.ReadFile(filepath.Join(top, "go.mod")); err != nil || !strings.HasPrefix(string(b), "module code.example.org/edge.proxy\n") {
		t.Errorf("got %.60s, %v", b, err)
	}
}
