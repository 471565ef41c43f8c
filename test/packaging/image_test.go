package packaging

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// noEngine is why a test of containers is skipped, also where no other test may be: not every machine lets one run.
const noEngine = "there is no container engine"

// engine returns how docker is called: with the engine of this machine, or else one of the test's own, if dockerd is installed and
// root starts it.
func engine(t *testing.T) func(arguments ...string) string {
	t.Helper()
	testkit.Slow(t, "it runs containers")
	testkit.Plain(t, "other programs do the work")
	client, err := exec.LookPath("docker")
	if err != nil {
		t.Skip(noEngine + ": no docker")
	}
	host := os.Getenv("DOCKER_HOST")
	if exec.Command(client, "info").Run() != nil {
		host = daemon(t, client)
	}
	return func(arguments ...string) string {
		t.Helper()
		cmd := exec.Command(client, arguments...)
		cmd.Env = os.Environ()
		if host != "" {
			cmd.Env = append(cmd.Env, "DOCKER_HOST="+host)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("docker %v: %v\n%s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
}

// daemon starts a dockerd with files of its own, which changes no rule of the firewall, and returns where it listens.
func daemon(t *testing.T, client string) string {
	t.Helper()
	program, err := exec.LookPath("dockerd")
	if err != nil || os.Geteuid() != 0 {
		t.Skip(noEngine + ": docker info fails, and only root can start dockerd, if it is installed")
	}
	dir, err := os.MkdirTemp("", "dockerd-") // short, for its sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host := "unix://" + dir + "/docker.sock"
	var said testkit.Buffer
	cmd := exec.Command(program, "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid", "--host", host,
		"--storage-driver", "vfs", "--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-forward=false")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	ready := testkit.ComesTrue(func() bool {
		select {
		case <-ended:
			return true
		default:
			return exec.Command(client, "--host", host, "info").Run() == nil
		}
	})
	select {
	case <-ended:
		ready = false
	default:
	}
	if !ready {
		t.Skipf("%s: dockerd does not start here:\n%s", noEngine, said.String())
	}
	return host
}

// TestTheImageServes builds both images, starts the proxy before the demo's origin with the restrictions of compose.yaml, waits until its
// health check passes, and asks it.
func TestTheImageServes(t *testing.T) {
	t.Parallel()
	docker := engine(t)
	folder := imageFolder(t)
	name := "edgeproxy-test-" + strings.ToLower(filepath.Base(folder))
	for _, target := range []string{"origin", "edgeproxy"} {
		docker("build", "--quiet", "--target", target, "--tag", name+":"+target, folder)
		t.Cleanup(func() { docker("image", "rm", "--force", name+":"+target) })
	}
	docker("network", "create", name)
	t.Cleanup(func() { docker("network", "rm", name) })
	t.Cleanup(func() { docker("rm", "--force", "--volumes", name+"-origin", name) })
	docker("run", "--detach", "--name", name+"-origin", "--network", name, "--network-alias", "origin", name+":origin")
	docker("run", "--detach", "--name", name, "--network", name, "--publish", "127.0.0.1::8080", "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges:true", name+":edgeproxy")

	health := func() string { return docker("inspect", "--format", "{{.State.Health.Status}}", name) }
	if !testkit.ComesTrue(func() bool { return health() == "healthy" }) {
		t.Fatalf("the container is %s\n%s", health(), docker("logs", name))
	}
	address, _, _ := strings.Cut(docker("port", name, "8080"), "\n")
	for _, want := range []string{"edgeproxy; fwd=uri-miss; detail=first-sighting", "edgeproxy; hit; ", "edgeproxy; hit; "} {
		res, err := http.Get("http://" + address + "/hello")
		if err != nil {
			t.Fatalf("%v\n%s", err, docker("logs", name))
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := res.Header.Get("Cache-Status"); err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(got, want) {
			t.Errorf("got %s, Cache-Status %q, %v and %q, want Cache-Status %q", res.Status, got, err, body, want)
		}
	}
	if got := docker("exec", name, "/edgeproxy", "health"); got != "ready" {
		t.Errorf("health in the container: got %q", got)
	}
	if got := docker("exec", name, "/edgeproxy", "version"); !strings.HasPrefix(got, "edgeproxy 1.2.3 commit 0123456789ab ") {
		t.Errorf("got version %q", got)
	}
	docker("stop", "--time", "40", name)
	if got := docker("inspect", "--format", "{{.State.ExitCode}} {{.Config.User}}", name); got != "0 65532:65532" {
		t.Errorf("got exit code and user %q after a stop, want 0 and numbers\n%s", got, docker("logs", name))
	}
}

// TestTheImageOfTheReleaseServes loads the archive that a release has, and starts it.
func TestTheImageOfTheReleaseServes(t *testing.T) {
	t.Parallel()
	docker := engine(t)
	folder := imageFolder(t)
	archive, program := filepath.Join(t.TempDir(), "image.tar.gz"), filepath.Join(t.TempDir(), "image")
	name := "edgeproxy-test-" + strings.ToLower(filepath.Base(folder)) + ":release"
	run(t, exec.Command("go", "build", "-C", filepath.Join(root, "tools", "image"), "-o", program, "."))
	run(t, exec.Command(program, "-target", "edgeproxy", "-tag", name, "-arch", runtime.GOARCH, folder, archive))
	docker("load", "--quiet", "--input", archive)
	t.Cleanup(func() { docker("image", "rm", "--force", name) })
	container, _, _ := strings.Cut(name, ":")
	docker("run", "--detach", "--name", container, "--read-only", "--cap-drop", "ALL", name)
	t.Cleanup(func() { docker("rm", "--force", "--volumes", container) })
	health := func() string { return docker("inspect", "--format", "{{.State.Health.Status}}", container) }
	if !testkit.ComesTrue(func() bool { return health() == "healthy" }) {
		t.Fatalf("the container is %s\n%s", health(), docker("logs", container))
	}
	docker("build", "--quiet", "--target", "edgeproxy", "--tag", container+":built", folder)
	t.Cleanup(func() { docker("image", "rm", "--force", container+":built") })
	const all = "{{json .Config.Entrypoint}} {{json .Config.Cmd}} {{json .Config.ExposedPorts}} {{json .Config.Volumes}} {{json .Config.Healthcheck}} {{.Config.User}} {{.Config.StopSignal}}"
	if got, want := docker("image", "inspect", "--format", all, name), docker("image", "inspect", "--format", all, container+":built"); got != want {
		t.Errorf("got %s, but docker build makes %s", got, want)
	}
}

// imageFolder returns what scripts/image.sh lays out.
func imageFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	cmd := exec.Command(filepath.Join(root, "scripts/image.sh"), folder)
	cmd.Env = append(os.Environ(), "VERSION=1.2.3", "COMMIT=0123456789ab")
	run(t, cmd)
	return folder
}

// TestComposeReadsTheDemo has the parser of docker compose read it, and docker compose where it is installed.
func TestComposeReadsTheDemo(t *testing.T) {
	testkit.Slow(t, "it builds the parser of docker compose")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	file := absolute(t, "packaging/docker/compose.yaml")
	program := filepath.Join(t.TempDir(), "compose-spec")
	run(t, exec.Command("go", "build", "-C", filepath.Join(root, "tools", "compose"), "-o", program, "github.com/compose-spec/compose-go/v2/cmd"))
	parse := exec.Command(program, "-format", "json", file)
	parse.Dir = filepath.Dir(file)
	out, err := parse.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var c struct {
		Services map[string]struct {
			Build struct{ Context, Target string }
		}
	}
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, service := range []string{"origin", "edgeproxy"} {
		if got := c.Services[service].Build; got.Target != service || got.Context != absolute(t, ".cache/image") {
			t.Errorf("%s: built as %+v, want the folder that make image lays out", service, got)
		}
	}
	if len(c.Services) != 4 {
		t.Errorf("got %d services, want 4", len(c.Services))
	}
	if exec.Command("docker", "compose", "version").Run() == nil {
		run(t, exec.Command("docker", "compose", "-f", file, "config", "--quiet"))
	}
}
