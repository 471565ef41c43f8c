package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// bySocket is a client of a socket in the file system.
func bySocket(address string) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", strings.TrimPrefix(address, "unix:"))
		},
	}}
}

// hello is an origin whose answers may be stored.
func hello(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestSocketsInTheFileSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, admin := "unix:"+filepath.Join(dir, "edge.sock"), "unix:"+filepath.Join(dir, "admin.sock")
	serveBinary(t, "-c", writeFile(t, "sockets.yaml", fmt.Sprintf(`
listen: [{address: %q}]
admin: {address: %q}
admission: {policy: always}
origins: {app: {servers: [%q]}}
`, data, admin, hello(t))))
	ask := func(want string) {
		t.Helper()
		res, err := bySocket(data).Get("http://www.example.com/a")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := res.Header.Get("Cache-Status"); err != nil || string(body) != "hello" || !strings.Contains(got, want) {
			t.Errorf("got %q with %q, %v; want hello and %s", body, got, err, want)
		}
	}
	ask("; stored")
	ask("; hit; ")
	done := runBinary(t, "purge", "--admin", admin, "--url", "http://www.example.com/a")
	if done.code != exitDone || !strings.Contains(done.stdout, "(objects: 1)") {
		t.Errorf("purge: got %+v, want one object purged", done)
	}
	ask("; stored")
}

// inheritable returns a socket that listens, for a program to inherit, and its address.
func inheritable(t *testing.T) (address string, socket *os.File) {
	t.Helper()
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	socket, err = ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return ln.Addr().String(), socket
}

// activated runs the program with a socket that it inherits, as systemd would.
func activated(t *testing.T, socket *os.File, args ...string) *server {
	t.Helper()
	script := `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve "$@"`
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, program(t)}, args...)...)
	cmd.ExtraFiles = []*os.File{socket}
	return serveCmd(t, cmd)
}

// TestARestartWithAnInheritedSocketFailsNobody starts a second process on the socket of
// the first and stops the first, while clients ask all the time, on new connections and
// on those they have.
func TestARestartWithAnInheritedSocketFailsNobody(t *testing.T) {
	t.Parallel()
	address, socket := inheritable(t)
	args := []string{"--origin", hello(t), "--listen", address, "--admin", "127.0.0.1:0"}
	s := activated(t, socket, args...)
	url := "http://" + address + "/a"

	var asked atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			c := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: n%2 == 0}}
			for ctx.Err() == nil {
				res, err := c.Get(url)
				if err != nil {
					t.Errorf("client %d: %v", n, err)
					return
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK || string(body) != "hello" {
					t.Errorf("client %d: got %d %q, %v", n, res.StatusCode, body, err)
					return
				}
				asked.Add(1)
			}
		})
	}
	progress := func() {
		t.Helper()
		from := asked.Load()
		eventually(t, "clients are answered", func() bool { return asked.Load() > from+200 || t.Failed() })
	}
	for range 3 {
		progress()
		next := activated(t, socket, args...)
		s.signal(syscall.SIGTERM)
		progress()
		s.wantExit(exitDone)
		s = next
	}
	progress()
	stop()
	clients.Wait()
}

func TestAnInheritedSocketThatNoAddressTakesIsRefused(t *testing.T) {
	t.Parallel()
	address, socket := inheritable(t)
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve "$@"`, program(t),
		"--origin", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	cmd.ExtraFiles = []*os.File{socket}
	out, err := cmd.CombinedOutput()
	want := "inherited socket " + address + ": no listener has this address"
	if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), want) {
		t.Errorf("got %d, %v, %s; want %d and %q", cmd.ProcessState.ExitCode(), err, out, exitFailed, want)
	}
}

// TestAClientThatIsConnectedGetsOneMoreAnswer: while the process leaves, an idle
// connection is good for one more request, whose answer ends it. The process waits a second for that request, so the client asks
// all the time; if the machine has kept it from asking for half of that, all is done once more.
func TestAClientThatIsConnectedGetsOneMoreAnswer(t *testing.T) {
	t.Parallel()
	for tries := 1; ; tries++ {
		pause, err := askUntilTheLastAnswer(t)
		if err == nil {
			return
		}
		if pause < time.Second/2 || tries == 5 {
			t.Fatalf("%v; at most %v between two requests", err, pause)
		}
		t.Logf("%v, after %v between two requests: once more", err, pause)
	}
}

// askUntilTheLastAnswer stops a program under a client that asks all the time, by one connection. It returns the longest time
// between two requests since the stop, too.
func askUntilTheLastAnswer(t *testing.T) (pause time.Duration, err error) {
	t.Helper()
	s := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nshutdown: {drain_timeout: 10m}\n", hello(t)))
	var conn net.Conn
	c := &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if conn != nil {
				return nil, fmt.Errorf("want no second connection")
			}
			var d net.Dialer
			var err error
			conn, err = d.DialContext(ctx, network, address)
			return conn, err
		},
	}}
	ask := func() (last bool, err error) {
		res, err := c.Get("http://" + s.address + "/a")
		if err != nil {
			return false, err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || string(body) != "hello" {
			t.Errorf("got %q, %v, want hello", body, err)
		}
		return res.Close, nil
	}
	for range 600 { // so often that the head of the answer is a copy
		if last, err := ask(); err != nil || last {
			t.Fatalf("before the drain: %v, or an answer that ends the connection", err)
		}
	}
	s.signal(syscall.SIGTERM)
	begun := time.Now()
	for asked, last := begun, false; !last; asked = time.Now() {
		if last, err = ask(); err != nil {
			return max(pause, time.Since(asked)), err
		}
		pause = max(pause, time.Since(asked))
		if time.Since(begun) > patience {
			t.Fatal("no answer ends the connection")
		}
	}
	eventually(t, "/readyz does not say that it is ready", func() bool { return s.readyz() != http.StatusOK })
	s.wantExit(exitDone) // before drain_timeout, once nobody is connected
	return pause, nil
}
