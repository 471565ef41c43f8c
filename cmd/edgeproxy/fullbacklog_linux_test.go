package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fullSocket returns a listener at path whose backlog is full of connections that the test has made.
func fullSocket(t *testing.T, path string) net.Listener {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for range 16 {
		c, err := net.Dial("unix", path)
		if errors.Is(err, unix.EAGAIN) {
			return l
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the backlog does not fill")
	return nil
}

// An application with a full backlog was a 504 at once, where it would have taken the connection a moment later.
func TestAnOriginWithAFullBacklogWasA504AtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	crowded := filepath.Join(folder, "app.sock")
	l := fullSocket(t, crowded)
	start := func(servers, timeout string) *server {
		return serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%s], connect_timeout: %s}}
`, servers, timeout)))
	}

	well := filepath.Join(folder, "well.sock")
	socketApp(t, well)
	beside := start(fmt.Sprintf("%q, %q", "unix:"+crowded, "unix:"+well), "1s") // in which a busy machine has to have connected to the other
	for i := range 4 {
		if res, _ := get(t, fmt.Sprintf("http://%s/%d", beside.address, i)); res.StatusCode != http.StatusOK {
			t.Errorf("beside a server that is well: got %d, want the other to be asked after connect_timeout", res.StatusCode)
		}
	}
	alone := start(fmt.Sprintf("%q", "unix:"+crowded), "50ms")
	if res, _ := get(t, "http://"+alone.address+"/"); res.StatusCode != http.StatusGatewayTimeout {
		t.Errorf("full for all of connect_timeout: got %d, want 504", res.StatusCode)
	}

	patient := start(fmt.Sprintf("%q", "unix:"+crowded), "60s")
	answer := make(chan int, 1)
	go func() {
		res, err := http.Get("http://" + patient.address + "/")
		if err != nil {
			answer <- 0
			return
		}
		_ = res.Body.Close()
		answer <- res.StatusCode
	}()
	eventually(t, "the request waits for a connection", func() bool {
		_, text := get(t, "http://"+patient.admin+"/status")
		return strings.Contains(text, `"active_connections": 1`) || len(answer) > 0
	})
	app := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	_ = app.Listener.Close()
	app.Listener = l
	app.Start()
	defer app.Close()
	if got := <-answer; got != http.StatusOK {
		t.Errorf("got %d, want 200 once the application has taken what was before it", got)
	}
}
