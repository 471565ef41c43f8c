package recipes

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestAptByTheMirror: apt itself reads the index and downloads a package, on three machines. The third costs the origin
// nothing.
func TestAptByTheMirror(t *testing.T) {
	testkit.Slow(t, "it starts apt")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	apt, dpkg := testkit.Program(t, "apt-get"), testkit.Program(t, "dpkg-deb")
	run := func(dir, program string, arguments ...string) {
		t.Helper()
		cmd := exec.Command(program, arguments...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "no_proxy=127.0.0.1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	const control = "Package: hello-edge\nVersion: 1.0\nArchitecture: all\nMaintainer: Ann <ann@example.com>\nDescription: a test\n"
	write(filepath.Join(root, "tree/DEBIAN/control"), control)
	write(filepath.Join(root, "tree/usr/share/hello-edge/text"), testkit.Numbered(64<<10))
	const deb = "pool/hello-edge_1.0_all.deb"
	write(filepath.Join(root, "debian/pool/none"), "")
	run(root, dpkg, "--root-owner-group", "--build", "tree", "debian/"+deb)
	content, err := os.ReadFile(filepath.Join(root, "debian", deb))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(root, "debian/Packages"), control+fmt.Sprintf("Filename: %s\nSize: %d\nSHA256: %x\n", deb, len(content), sha256.Sum256(content)))

	b := startRecipe(t, "packages", http.FileServer(http.Dir(root)).ServeHTTP, onDisk(t, "200GiB")...)
	for n := range 3 {
		machine := t.TempDir()
		for _, folder := range []string{"state/lists/partial", "cache/archives/partial", "etc/preferences.d", "got"} {
			if err := os.MkdirAll(filepath.Join(machine, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(filepath.Join(machine, "status"), "")
		write(filepath.Join(machine, "etc/sources.list"), "deb [trusted=yes] http://"+b.address+"/debian ./\n")
		options := []string{
			"-o", "Dir::State=" + machine + "/state", "-o", "Dir::State::status=" + machine + "/status", "-o", "Dir::Cache=" + machine + "/cache",
			"-o", "Dir::Etc=" + machine + "/etc", "-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none", "-o", "Acquire::http::Proxy=DIRECT",
			"-o", "Acquire::Retries=0",
		}
		b.origin.rests()
		run(machine, apt, append(options, "update")...)
		before := b.origin.bytes.Load()
		run(filepath.Join(machine, "got"), apt, append(options, "download", "hello-edge")...)
		got, err := os.ReadFile(filepath.Join(machine, "got", "hello-edge_1.0_all.deb"))
		if err != nil || string(got) != string(content) {
			t.Fatalf("machine %d: got %d bytes and %v, want %d", n+1, len(got), err, len(content))
		}
		want := int64(len(content))
		if n == 2 {
			want = 0
		}
		if sent := b.origin.bytes.Load() - before; sent != want {
			t.Errorf("machine %d: the origin sent %d bytes of the package, want %d", n+1, sent, want)
		}
	}
}
