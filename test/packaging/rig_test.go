package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// root is the top of the tree.
const root = "../.."

func TestMain(m *testing.M) {
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

// text returns a file of the tree.
func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write returns the path of a new file with this content.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs cmd, which has to succeed.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	testkit.Slow(t, "it runs another program")
	testkit.Plain(t, "another program does the work")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}
