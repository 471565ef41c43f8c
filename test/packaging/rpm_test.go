package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// rpmArch returns the name that RPM has for an architecture of Go.
func rpmArch(arch string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
}

// TestTheRPMPackage builds it twice, looks into it, installs it below a folder and runs what it has installed. Its scripts are
// not run: they need a system with RPM.
func TestTheRPMPackage(t *testing.T) {
	testkit.Slow(t, "it builds and installs the package")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	rpm := testkit.Program(t, "rpm")
	build := func() string {
		out := t.TempDir()
		cmd := exec.Command(filepath.Join(root, "scripts/package.sh"), "rpm", out)
		cmd.Env = append(os.Environ(), "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000", "DEBFULLNAME=A. Builder", "DEBEMAIL=builder@example.com", "PROGRAM="+testkit.Built(t))
		run(t, cmd)
		return filepath.Join(out, "edgeproxy-1.2.3-1."+rpmArch(runtime.GOARCH)+".rpm")
	}
	path := build()
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := os.ReadFile(build()); err != nil || string(one) != string(two) {
		t.Errorf("a second build has other bytes: %v", err)
	}
	ask := func(arguments ...string) string {
		out, err := exec.Command(rpm, arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	if got, want := ask("-qp", "--qf", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{PACKAGER} %{BUILDHOST}", path), "edgeproxy 1.2.3 "+rpmArch(runtime.GOARCH)+" Apache-2.0 A. Builder <builder@example.com> localhost"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := sorted(ask("-qpc", path)), "/etc/default/edgeproxy\n/etc/edgeproxy/edgeproxy.yaml\n/etc/logrotate.d/edgeproxy\n"; got != want {
		t.Errorf("got the configuration files %q, want %q", got, want)
	}
	scripts := ask("-qp", "--scripts", path)
	for _, want := range []string{"useradd --system", "systemctl disable --now edgeproxy.socket edgeproxy.service", "postuninstall scriptlet"} {
		if !strings.Contains(scripts, want) {
			t.Errorf("no %q in the scripts:\n%s", want, scripts)
		}
	}
	for _, script := range []string{"post", "preun", "postun"} {
		run(t, exec.Command("sh", "-n", filepath.Join(root, "packaging/rpm", script)))
	}

	if os.Geteuid() != 0 {
		t.Skip("only root can install")
	}
	top := t.TempDir()
	ask("--root", top, "--nodeps", "--noscripts", "-i", path)
	for _, file := range []string{
		"usr/lib/systemd/system/edgeproxy.service", "usr/share/edgeproxy/systemd/edgeproxy.service", "usr/share/man/man1/edgeproxy.1.gz", "usr/share/man/man5/edgeproxy.yaml.5.gz", "usr/share/zsh/site-functions/_edgeproxy",
		"usr/share/doc/edgeproxy/docs/first-hour.md", "usr/share/doc/edgeproxy/SECURITY.md", "usr/share/doc/edgeproxy/copyright", "etc/logrotate.d/edgeproxy",
	} {
		if info, err := os.Stat(filepath.Join(top, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	checkLinks(t, filepath.Join(top, "usr/share/doc/edgeproxy"))
	run(t, exec.Command(filepath.Join(top, "usr/bin/edgeproxy"), "check", "-c", filepath.Join(top, "etc/edgeproxy/edgeproxy.yaml")))
}
