package packaging

import (
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// checkStatic wants a program for linux on arch that needs no library and no loader of the system.
func checkStatic(t *testing.T, path, arch string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; f.Machine != want {
		t.Errorf("%s: is for %v, want %v", filepath.Base(path), f.Machine, want)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_INTERP {
			t.Errorf("%s: has %v, so it is not static", filepath.Base(path), p.Type)
		}
	}
	if f.SectionByType(elf.SHT_DYNAMIC) != nil {
		t.Errorf("%s: has a dynamic section, so it is not static", filepath.Base(path))
	}
}

// Where cgo is on, make build made a program that needs the C library of the machine.
func TestMakeBuildMadeADynamicProgram(t *testing.T) {
	testkit.Slow(t, "it builds a program")
	testkit.Plain(t, "the compiler does the work")
	t.Parallel()
	if !strings.Contains(text(t, "Makefile"), "scripts/build.sh bin/edgeproxy\n") {
		t.Error("make build builds by something else than scripts/build.sh")
	}
	path := filepath.Join(t.TempDir(), "edgeproxy")
	cmd := exec.Command(filepath.Join(root, "scripts/build.sh"), path)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "PACKAGE=./scripts/tour-origin") // a small one
	run(t, cmd)
	checkStatic(t, path, runtime.GOARCH)
}

// checkContents wants in the folder what belongs to the program.
func checkContents(t *testing.T, top string) {
	t.Helper()
	for _, file := range []string{
		"bin/edgeproxy", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/operating.md", "docs/operating/failures.md", "docs/settings.md", "config/edgeproxy.yaml", "config/starter.yaml",
		"man/edgeproxy.1.gz", "man/edgeproxy.yaml.5.gz", "man/edgeproxy-serve.1.gz", "completions/edgeproxy", "completions/_edgeproxy", "completions/edgeproxy.fish", "packaging/systemd/edgeproxy.service",
		"packaging/systemd/edgeproxy.socket", "packaging/prometheus/edgeproxy.rules.yaml", "packaging/grafana/edgeproxy.json", "packaging/helm/edgeproxy/Chart.yaml",
	} {
		if info, err := os.Stat(filepath.Join(top, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", file, err)
		}
	}
}

var (
	documentLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	documentHead = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	fenced       = regexp.MustCompile("(?ms)^```.*?^```")
	noAnchor     = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// checkLinks follows each relative link of the documents below top, also to a heading. Links of the package and of the archive to pages
// that only the tree has led nowhere.
func checkLinks(t *testing.T, top string) {
	t.Helper()
	links := 0
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range documentLink.FindAllStringSubmatch(fenced.ReplaceAllString(string(b), ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue // a link into the web
			}
			links++
			target := file
			if to != "" {
				target = filepath.Join(filepath.Dir(file), to)
			}
			page, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s: %v", strings.TrimPrefix(file, top), m[1], err)
			} else if anchor != "" && filepath.Ext(target) == ".md" && !hasHeading(string(page), anchor) {
				t.Errorf("%s links to %s, which has no such heading", strings.TrimPrefix(file, top), m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("got %d links below %s, want those of the project", links, top)
	}
}

// hasHeading says whether a heading of the page is linked to by this name, as GitHub forms them.
func hasHeading(page, anchor string) bool {
	for _, m := range documentHead.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// The archive had no unit, no manual pages, no completions and no rules, and its README linked to pages that it did not have.
func TestTheArchiveLackedWhatThePackageHas(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "contents")
	run(t, exec.Command(filepath.Join(root, "scripts/contents.sh"), top, testkit.Built(t)))
	checkContents(t, top)
	checkLinks(t, top)
}
