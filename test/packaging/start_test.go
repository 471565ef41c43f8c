package packaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// commandsOf returns the lines of the block that is marked so in a document.
func commandsOf(t *testing.T, path, mark string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)<!-- " + mark + " -->\n```sh\n(.*?)```\n<!-- /" + mark + " -->").FindStringSubmatch(text(t, path))
	if m == nil {
		t.Fatalf("%s has no block %s", path, mark)
	}
	return m[1]
}

// afterwards are the steps behind those of the document: what it says of them, and the end.
const afterwards = `
asked() { curl -sS -D - -o /dev/null --max-time 60 http://127.0.0.1:8080/hello | grep '^Cache-Status' || true; }

test "$(systemctl is-active edgeproxy)" = active
test "$(systemctl is-enabled edgeproxy)" = enabled
test "$(stat -c %U /proc/"$(systemctl show -P MainPID edgeproxy)")" = edgeproxy
asked | grep first-sighting
asked | grep '; hit;'
asked | grep '; hit;'
edgeproxy health

: logrotate moves the access log, and the program makes a new one
comes() { # asks again: a line that comes before the program has the signal goes to the file before
	timeout 180 sh -c "until test -s '$1'; do curl -sS -o /dev/null --max-time 60 http://127.0.0.1:8080/hello; sleep 0.1; done"
}
rotated() { logrotate --force /etc/logrotate.d/edgeproxy; }
if command -v logrotate; then
	log=/var/log/edgeproxy/access.log
	rotated
	cp /etc/edgeproxy/edgeproxy.yaml /run/before.yaml
	sed -i "/^access_log:/,/path:/ s|path: \"\"|path: $log|" /etc/edgeproxy/edgeproxy.yaml
	systemctl restart edgeproxy
	pid=$(systemctl show -P MainPID edgeproxy)
	for round in 1 2 3; do
		asked
		comes $log
		rotated
		test -s $log.1
	done
	test -s $log.3.gz
	asked
	comes $log
	test "$(stat -c %U:%a $log)" = edgeproxy:640
	test "$(systemctl show -P MainPID edgeproxy)" = "$pid"
	systemctl stop edgeproxy
	rotated
	cp /run/before.yaml /etc/edgeproxy/edgeproxy.yaml
	systemctl start edgeproxy
fi

: a reload applies what is live, and fails where the file is refused
echo 'cache_status: {send: none}' >>/etc/edgeproxy/edgeproxy.yaml
systemctl reload edgeproxy
test -z "$(asked)"
echo 'cahce: {}' >>/etc/edgeproxy/edgeproxy.yaml
if systemctl reload edgeproxy; then exit 11; fi
test "$(systemctl is-active edgeproxy)" = active

: a start fails where check does
if systemctl restart edgeproxy; then exit 12; fi
sed -i '/^cahce/d; /^cache_status/d' /etc/edgeproxy/edgeproxy.yaml
systemctl start edgeproxy

: a process that hangs is restarted by the watchdog
mkdir -p /run/systemd/system/edgeproxy.service.d
printf '[Service]\nWatchdogSec=10s\nRestartSec=100ms\n' >/run/systemd/system/edgeproxy.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart edgeproxy
before=$(systemctl show -P MainPID edgeproxy)
kill -STOP "$before"
# The watchdog's SIGABRT comes with a SIGCONT, so the old process may answer once more while it writes its stacks.
timeout 180 sh -c "until p=\$(systemctl show -P MainPID edgeproxy); test \$p != 0 && test \$p != $before; do sleep 0.1; done"
curl -sS --retry 60 --retry-delay 1 --retry-all-errors --max-time 60 -o /dev/null http://127.0.0.1:9980/readyz
test "$(systemctl show -P NRestarts edgeproxy)" = 1

: the socket keeps the port over a restart
systemctl stop edgeproxy
systemctl enable --now edgeproxy.socket
asked | grep first-sighting
systemctl restart edgeproxy &
for i in 1 2 3 4 5 6 7 8 9 10; do asked | grep Cache-Status; done
wait $!

: a purge stops it and takes what is its own
apt-get -y purge edgeproxy
test "$(systemctl is-active edgeproxy)" != active
test ! -e /etc/edgeproxy && test ! -e /etc/logrotate.d/edgeproxy && test ! -e /var/lib/edgeproxy && test ! -e /usr/bin/edgeproxy
`

// TestTheServiceStartsAsTheManualSays has a systemd of its own run the steps of docs/operating/run.md: the package is installed, a file is
// made and edited and checked, and the service is started. Then it is reloaded, hangs, is restarted with its socket, and is purged.
func TestTheServiceStartsAsTheManualSays(t *testing.T) {
	testkit.Slow(t, "it installs the package in a system of its own")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	for _, program := range []string{"systemctl", "unshare", "pivot_root", "ip", "apt-get", "adduser", "curl"} {
		testkit.Program(t, program)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can install")
	}
	work := t.TempDir()
	in, out := filepath.Join(work, "in"), filepath.Join(work, "out")
	for _, dir := range []string{filepath.Join(in, ".cache/deb"), out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, exec.Command("cp", deb(t), filepath.Join(in, ".cache/deb")))
	run(t, exec.Command("go", "build", "-o", filepath.Join(in, "tour-origin"), root+"/scripts/tour-origin"))
	manual := commandsOf(t, "docs/operating/run.md", "install")
	if !strings.HasPrefix(manual, "make deb\n") {
		t.Fatalf("the manual begins with something else than make deb:\n%s", manual)
	}
	steps := "trap 'systemctl --no-pager status edgeproxy.service || :' EXIT\n./tour-origin 127.0.0.1:3000 &\n" + strings.TrimPrefix(manual, "make deb\n") + afterwards
	if err := os.WriteFile(filepath.Join(in, "steps.sh"), []byte(steps), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := inNamespaces(t, work)
	if _, begun := os.Stat(filepath.Join(out, "begun")); begun != nil {
		t.Skipf("this system lets nobody have namespaces and an overlay: %v\n%s", err, said)
	}
	if err != nil {
		steps, _ := os.ReadFile(filepath.Join(out, "steps.log"))
		services, _ := os.ReadFile(filepath.Join(out, "services.log"))
		systemd, _ := os.ReadFile(filepath.Join(out, "systemd.log"))
		t.Errorf("%v\n%s\n%s\nservices:\n%s\nsystemd:\n%s", err, said, steps, services, systemd)
	}
}

// inNamespaces runs testdata/systemd.sh in namespaces and a group of its own, and returns what it says.
func inNamespaces(t *testing.T, work string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience*20) // all of the steps, and nothing but this ends them early
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", `echo $$ >"$1/cgroup.procs" && shift && exec "$@"`, "sh", group(t),
		"unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup", "--propagation", "private",
		"sh", absolute(t, "test/packaging/testdata/systemd.sh"), work)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = testkit.Patience
	err := cmd.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return said.String(), err
}

// group makes a control group for one systemd, which has it to itself.
func group(t *testing.T) string {
	t.Helper()
	for _, top := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(top, "cgroup.procs")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(top, "cgroup.controllers")); err != nil {
			continue // the first version's
		}
		path := filepath.Join(top, fmt.Sprintf("edgeproxy-test-%d", os.Getpid()))
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Skipf("no control group for systemd: %v", err)
		}
		t.Cleanup(func() { removeGroup(path) })
		return path
	}
	t.Skip("there are no control groups of the second version")
	return ""
}

// removeGroup removes it and those that systemd has made in it.
func removeGroup(path string) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			removeGroup(filepath.Join(path, e.Name()))
		}
	}
	_ = os.Remove(path)
}
