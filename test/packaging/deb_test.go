package packaging

import (
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

// deb builds the package around the program of the tests, and returns its path.
func deb(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(root, "scripts/package.sh"), "deb", out)
	cmd.Env = append(os.Environ(), "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000", "DEBFULLNAME=A. Builder", "DEBEMAIL=builder@example.com", "PROGRAM="+testkit.Built(t))
	run(t, cmd)
	return filepath.Join(out, "edgeproxy_1.2.3_"+runtime.GOARCH+".deb")
}

// dpkg runs a program of dpkg and returns what it printed.
func dpkg(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	out, err := exec.Command(testkit.Program(t, program), arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, arguments, err, out)
	}
	return string(out)
}

// TestTheDebianPackage builds it twice, installs it below a folder, runs what it has installed, and
// purges it.
func TestTheDebianPackage(t *testing.T) {
	testkit.Slow(t, "it builds and installs the package")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	testkit.Program(t, "dpkg-deb")
	path := deb(t)
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := os.ReadFile(deb(t)); err != nil || string(one) != string(two) {
		t.Errorf("a second build has other bytes: %v", err)
	}
	control := dpkg(t, "dpkg-deb", "--info", path)
	for _, want := range []string{" Package: edgeproxy\n", " Version: 1.2.3\n", " Architecture: " + runtime.GOARCH + "\n", " Maintainer: A. Builder <builder@example.com>\n"} {
		if !strings.Contains(control, want) {
			t.Errorf("no %q in\n%s", want, control)
		}
	}
	if got, want := dpkg(t, "dpkg-deb", "--info", path, "conffiles"), "/etc/default/edgeproxy\n/etc/edgeproxy/edgeproxy.yaml\n/etc/logrotate.d/edgeproxy\n"; sorted(got) != want {
		t.Errorf("got conffiles %q, want %q", got, want)
	}

	if os.Geteuid() != 0 {
		t.Skip("only root can install")
	}
	top := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(top, path), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("var/lib/dpkg/status")
	options := []string{"--root=" + top, "--force-depends", "--force-script-chrootless", "--no-triggers"}
	dpkg(t, "dpkg", append(options, "--install", path)...)

	installed := func(path string) string { return filepath.Join(top, path) }
	for _, file := range []string{
		"usr/lib/systemd/system/edgeproxy.service", "usr/lib/systemd/system/edgeproxy.socket", "usr/share/man/man1/edgeproxy.1.gz", "usr/share/man/man5/edgeproxy.yaml.5.gz", "usr/share/man/man1/edgeproxy-serve.1.gz",
		"usr/share/bash-completion/completions/edgeproxy", "usr/share/zsh/vendor-completions/_edgeproxy", "usr/share/fish/vendor_completions.d/edgeproxy.fish",
		"usr/share/edgeproxy/prometheus/edgeproxy.rules.yaml", "usr/share/edgeproxy/grafana/edgeproxy.json", "usr/share/edgeproxy/helm/edgeproxy/Chart.yaml", "usr/share/doc/edgeproxy/README.md",
		"usr/share/doc/edgeproxy/docs/operating.md", "usr/share/doc/edgeproxy/docs/operating/failures.md", "usr/share/doc/edgeproxy/docs/first-hour.md", "usr/share/doc/edgeproxy/copyright",
		"usr/share/doc/edgeproxy/packaging/systemd/edgeproxy.service", "etc/logrotate.d/edgeproxy",
	} {
		if info, err := os.Stat(installed(file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	checkLinks(t, installed("usr/share/doc/edgeproxy"))
	checkNamedDocuments(t, top)
	config := installed("etc/edgeproxy/edgeproxy.yaml")
	if out, err := exec.Command(installed("usr/bin/edgeproxy"), "check", "-c", config).CombinedOutput(); err != nil {
		t.Errorf("check of the file that comes along: %v\n%s", err, out)
	}

	checkBeforeTheFirstStart(t, top)

	write("etc/edgeproxy/edgeproxy.yaml") // what an operator changes
	write("var/lib/edgeproxy/sightings")  // what the service writes
	dpkg(t, "dpkg", append(options, "--remove", "edgeproxy")...)
	if _, err := os.Stat(config); err != nil {
		t.Errorf("a removal has taken the configuration: %v", err)
	}
	dpkg(t, "dpkg", append(options, "--purge", "edgeproxy")...)
	for _, gone := range []string{"usr/bin/edgeproxy", "etc/edgeproxy", "var/cache/edgeproxy", "var/lib/edgeproxy", "var/log/edgeproxy", "usr/share/edgeproxy", "usr/share/doc/edgeproxy", "etc/logrotate.d/edgeproxy"} {
		if _, err := os.Stat(installed(gone)); !os.IsNotExist(err) {
			t.Errorf("a purge has left %s: %v", gone, err)
		}
	}
}

// checkNamedDocuments looks for the documents that the unit, the rules and a manual page name by their path.
func checkNamedDocuments(t *testing.T, top string) {
	t.Helper()
	manual, err := exec.Command("gzip", "-dc", filepath.Join(top, "usr/share/man/man1/edgeproxy.1.gz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for where, content := range map[string]string{"the unit": text(t, serviceFile), "the manual page": strings.ReplaceAll(string(manual), `\`, ""), "the rules": text(t, rulesFile)} {
		paths := regexp.MustCompile(`/usr/share/doc/edgeproxy[\w/.-]*`).FindAllString(content, -1)
		if len(paths) == 0 {
			t.Errorf("%s names no document", where)
		}
		for _, path := range paths {
			if _, err := os.Stat(filepath.Join(top, strings.TrimRight(path, "."))); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
}

// checkBeforeTheFirstStart runs check with a file that has all of the service's files where the unit lets them be. It failed, for
// the folders came with the first start, which runs check before it.
func checkBeforeTheFirstStart(t *testing.T, top string) {
	t.Helper()
	parents := map[string]string{"Cache": "var/cache/", "State": "var/lib/", "Logs": "var/log/"}
	unit := text(t, serviceFile)
	for kind, parent := range parents {
		m := regexp.MustCompile(`(?m)^` + kind + `Directory=(\S+)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("the unit makes no folder below %s", parent)
		}
		info, err := os.Stat(filepath.Join(top, parent, m[1]))
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o755 { // systemd makes it like this
			t.Errorf("%s%s: got %v, %v; want it with the mode 0755", parent, m[1], info, err)
		}
	}
	file := write(t, "edgeproxy.yaml", strings.ReplaceAll(`origins: {app: {servers: ["http://127.0.0.1:9000"]}}
admission: {state: /var/lib/edgeproxy/sightings}
cache: {disk: {path: /var/cache/edgeproxy/disk}}
limits: {spool_path: /var/cache/edgeproxy}
access_log: {path: /var/log/edgeproxy/access.log}
`, "/var/", top+"/var/"))
	if out, err := exec.Command(filepath.Join(top, "usr/bin/edgeproxy"), "check", "-c", file).CombinedOutput(); err != nil {
		t.Errorf("check before the first start: %v\n%s", err, out)
	}
}

// sorted returns the lines in order.
func sorted(lines string) string {
	l := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	slices.Sort(l)
	return strings.Join(l, "\n") + "\n"
}

// TestTheManualHasTheLogrotateFile: the text of the document is that of the package, without its comment.
func TestTheManualHasTheLogrotateFile(t *testing.T) {
	_, rules, _ := strings.Cut(text(t, "packaging/deb/logrotate"), "\n/")
	if !strings.Contains(text(t, "docs/operating/watch.md"), "```\n/"+rules+"```\n") {
		t.Error("docs/operating/watch.md has another text than packaging/deb/logrotate")
	}
}
