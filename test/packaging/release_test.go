package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// releaseTwice is set by make release-check: EDGEPROXY_RELEASE=twice.
var releaseTwice = os.Getenv("EDGEPROXY_RELEASE") == "twice"

// TestTheReleaseIsComplete has scripts/release.sh make one, and opens what came out. Usually the release is made once, for the
// architecture of this machine. With releaseTwice it is made for both architectures, and each file twice, in two folders; the script fails
// if they differ.
func TestTheReleaseIsComplete(t *testing.T) {
	testkit.Slow(t, "it makes a release")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	testkit.Program(t, "dpkg-deb")
	out, architectures, once := t.TempDir(), []string{runtime.GOARCH}, "1"
	if releaseTwice {
		architectures, once = []string{"amd64", "arm64"}, ""
	}
	cmd := exec.Command(filepath.Join(root, "scripts/release.sh"), append([]string{out}, architectures...)...)
	cmd.Env = append(os.Environ(), "VERSION=1.2.3", "COMMIT=0123456789ab", "ONCE="+once)
	run(t, cmd)

	want := []string{"SHA256SUMS"}
	for _, arch := range architectures {
		name := "edgeproxy-1.2.3-linux-" + arch
		want = append(want, name+".tar.gz", name+".cdx.json", name+"-image.tar.gz", "edgeproxy_1.2.3_"+arch+".deb", "edgeproxy-1.2.3-1."+rpmArch(arch)+".rpm")
		t.Run(arch, func(t *testing.T) {
			top := filepath.Join(unpacked(t, filepath.Join(out, name+".tar.gz")), name)
			program := filepath.Join(top, "bin/edgeproxy")
			checkStatic(t, program, arch)
			checkImage(t, filepath.Join(out, name+"-image.tar.gz"), program, arch)
			checkBillOfMaterials(t, filepath.Join(out, name+".cdx.json"), program)
			checkContents(t, top)
			checkLinks(t, top)
			if control := dpkg(t, "dpkg-deb", "--info", filepath.Join(out, "edgeproxy_1.2.3_"+arch+".deb")); !strings.Contains(control, " Architecture: "+arch+"\n") {
				t.Errorf("the package is of another architecture:\n%s", control)
			}
			if arch != runtime.GOARCH || runtime.GOOS != "linux" {
				return
			}
			said, err := exec.Command(program, "--version").CombinedOutput()
			if err != nil || !strings.HasPrefix(string(said), "edgeproxy 1.2.3 commit 0123456789ab ") {
				t.Errorf("got %q, %v", said, err)
			}
		})
	}
	checkSums(t, out, want)
}

// unpacked returns a folder with what the archive has.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Uid != 0 || h.Gid != 0 || h.Mode&0o022 != 0 {
			t.Errorf("%s: belongs to %d:%d with the mode %o", h.Name, h.Uid, h.Gid, h.Mode)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else {
			content, readErr := io.ReadAll(archive)
			err = errors.Join(readErr, os.WriteFile(to, content, os.FileMode(h.Mode)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkImage looks into an image for docker load: it is of this architecture, and has this program.
func checkImage(t *testing.T, path, program, arch string) {
	t.Helper()
	dir := unpacked(t, path)
	read := func(path string) []byte {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(read(filepath.Join(dir, "manifest.json")), &manifest); err != nil || len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("%s: got the manifest %+v, %v", path, manifest, err)
	}
	m := manifest[0]
	if len(m.RepoTags) != 1 || m.RepoTags[0] != "edgeproxy:1.2.3" {
		t.Errorf("%s: got tags %q", path, m.RepoTags)
	}
	var c struct {
		Architecture, OS string
		Config           struct {
			User       string
			Entrypoint []string
		}
	}
	if err := json.Unmarshal(read(filepath.Join(dir, m.Config)), &c); err != nil || c.Architecture != arch || c.OS != "linux" || c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/edgeproxy"}) {
		t.Errorf("%s: got %+v, %v", path, c, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(read(filepath.Join(dir, m.Layers[0]))))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for layer := tar.NewReader(z); ; {
		h, err := layer.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(layer)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = fmt.Sprintf("%o %d:%d %x", h.Mode, h.Uid, h.Gid, sha256.Sum256(content))
	}
	sum := func(path string) string { return fmt.Sprintf("%x", sha256.Sum256(read(path))) }
	nothing := fmt.Sprintf("%x", sha256.Sum256(nil))
	for name, want := range map[string]string{
		"edgeproxy": "755 0:0 " + sum(program), "etc/edgeproxy/edgeproxy.yaml": "644 0:0 " + sum(filepath.Join(root, "packaging/docker/edgeproxy.yaml")),
		"var/cache/edgeproxy/": "755 65532:65532 " + nothing, "var/lib/edgeproxy/": "755 65532:65532 " + nothing,
	} {
		if got[name] != want {
			t.Errorf("%s: %s is %q, want %q", path, name, got[name], want)
		}
	}
	if got["etc/ssl/certs/ca-certificates.crt"] == "" {
		t.Errorf("%s: no certificates of authorities in it", path)
	}
}

// checkBillOfMaterials compares it with the modules that the linker has written into the program.
func checkBillOfMaterials(t *testing.T, path, program string) {
	t.Helper()
	type component struct{ Name, Version, PURL string }
	var d struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Component struct {
				component
				Properties []struct{ Name, Value string }
			}
		}
		Components []component
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil || d.BOMFormat != "CycloneDX" || d.SpecVersion != "1.5" {
		t.Fatalf("%v: got %q %q, want CycloneDX 1.5", err, d.BOMFormat, d.SpecVersion)
	}
	if c := d.Metadata.Component; c.Name != "edgeproxy" || c.Version != "1.2.3" || len(c.Properties) != 1 || c.Properties[0].Value != "0123456789ab" {
		t.Errorf("the program is %+v, want its version and commit", c)
	}
	listed := map[string]string{}
	for _, c := range d.Components {
		listed[c.Name] = c.Version
		if c.PURL == "" {
			t.Errorf("%s has no purl", c.Name)
		}
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": info.GoVersion}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		want[m.Path] = m.Version
	}
	want["uplot"] = regexp.MustCompile(`\(v([\d.]+)\)`).FindStringSubmatch(text(t, "internal/ops/page/uplot/uPlot.iife.min.js"))[1]
	if len(want) < 20 {
		t.Errorf("the program has %d modules, want those of the project", len(want))
	}
	if fmt.Sprint(listed) != fmt.Sprint(want) { // maps are printed in the order of their keys
		t.Errorf("listed are %v, want %v", listed, want)
	}
}

// checkSums wants these files to be there and no others, and each to have the sum that SHA256SUMS says.
func checkSums(t *testing.T, out string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got the files %v, want %v", got, want)
	}
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range got {
		if name == "SHA256SUMS" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if line := hex.EncodeToString(sum[:]) + "  " + name + "\n"; strings.Count(string(sums), line) != 1 {
			t.Errorf("SHA256SUMS has no line %q", line)
		}
	}
	if lines := strings.Count(string(sums), "\n"); lines != len(got)-1 {
		t.Errorf("SHA256SUMS has %d lines, want %d", lines, len(got)-1)
	}
}
