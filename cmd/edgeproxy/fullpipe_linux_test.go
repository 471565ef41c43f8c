package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// deaf is a program whose standard error is a pipe that nobody reads any more.
type deaf struct {
	*server
	unread *os.File
}

// serveDeaf starts the program with such a standard error. It is full if said so, but for
// a terminal's worth.
func serveDeaf(t *testing.T, file string, full bool) *deaf {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if full {
		fill(t, w)
	}
	cmd := exec.Command(program(t), "serve", "-c", file)
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	d := &deaf{server: &server{t: t, cmd: cmd, ended: make(chan struct{})}, unread: r}
	go func() {
		defer close(d.ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-d.ended
	})
	return d
}

// fill fills a pipe.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			if err := own.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			_, err = own.Write(make([]byte, size))
		}
	}
}

// serving waits until the program serves at the addresses of its file.
func (d *deaf) serving(address, admin string) {
	d.t.Helper()
	d.address, d.admin = address, admin
	eventually(d.t, "it serves", func() bool { return d.readyz() == 200 })
}

// ask asks for a path and returns the status.
func (d *deaf) ask(path string) int {
	d.t.Helper()
	res, _ := get(d.t, "http://"+d.address+path)
	return res.StatusCode
}

// failingOrigin is an origin that closes each connection without an answer.
func failingOrigin(t *testing.T) string {
	t.Helper()
	return "http://" + testkit.Accept(t, "127.0.0.1:0", func(c net.Conn) { _ = c.Close() })
}

func dropped(t *testing.T, admin, log string) int {
	t.Helper()
	_, text := get(t, "http://"+admin+"/metrics")
	m := regexp.MustCompile(`\nedgeproxy_log_dropped_total\{log="` + log + `"\} (\S+)\n`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no metric of the log %s", log)
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return int(n)
}

// From the 287th failing miss on nothing was answered, no purge and no signal: each wrote
// to a pipe that was full.
func TestFullPipeAtStandardErrorStopsNothing(t *testing.T) {
	t.Parallel()
	data, admin := testkit.QuietAddress(t), testkit.QuietAddress(t)
	d := serveDeaf(t, writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: %q}]
admin: {address: %q}
origins: {app: {servers: [%q], ejection: {failures: 0, failure_ratio: 0.0}}}
log: {level: debug}
shutdown: {drain_timeout: 10m}
`, data, admin, failingOrigin(t))), true)
	d.serving(data, admin)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 600 {
				res, err := http.Get(fmt.Sprintf("http://%s/%d", data, i))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
	if got := dropped(t, admin, "program"); got == 0 {
		t.Error("want lines dropped and counted: the queue holds a mebibyte")
	}
	if got := runBinary(t, "purge", "--admin", admin, "--all"); got.code != exitDone {
		t.Errorf("purge: got %+v, want it done", got)
	}
	d.signal(syscall.SIGTERM)
	d.wantExit(exitDone) // before drain_timeout
}

// A reader that ends took the program with it, by SIGPIPE.
func TestStandardErrorThatIsClosedEndsNothing(t *testing.T) {
	t.Parallel()
	data, admin := testkit.QuietAddress(t), testkit.QuietAddress(t)
	d := serveDeaf(t, writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: %q}]
admin: {address: %q}
origins: {app: {servers: [%q]}}
`, data, admin, failingOrigin(t))), false)
	d.serving(data, admin)
	_ = d.unread.Close()
	for i := range 3 {
		if got := d.ask(fmt.Sprint("/", i)); got != 502 {
			t.Errorf("got %d, want 502", got)
		}
	}
	eventually(t, "the lines are counted", func() bool { return dropped(t, admin, "program") >= 3 })
	d.signal(syscall.SIGTERM)
	d.wantExit(exitDone)
}

// An access log that is a named pipe held up the start, and every signal after one that
// asks to open it again.
func TestAccessLogThatNobodyReadsStopsNothing(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "access")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	data, admin := testkit.QuietAddress(t), testkit.QuietAddress(t)
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: %q}]
admin: {address: %q}
origins: {app: {servers: [%q]}}
access_log: {path: %q}
`, data, admin, cachedOrigin(t), pipe)))
	c := &http.Client{Timeout: patience}
	target := "http://" + data + "/?" + strings.Repeat("x", 4000)
	for range 3000 {
		res, err := c.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	if got := dropped(t, admin, "access"); got == 0 {
		t.Error("want lines dropped and counted: pipe and queue hold less than that")
	}
	s.signal(syscall.SIGUSR1)
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}

// The runtime writes what it has to say of a panic, or of SIGABRT, before the process
// ends, and waited for the reader with everything else stopped.
func TestFullPipeDoesNotHoldTheEndByAPanic(t *testing.T) {
	t.Parallel()
	data, admin := testkit.QuietAddress(t), testkit.QuietAddress(t)
	d := serveDeaf(t, writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: %q}]
admin: {address: %q}
origins: {app: {servers: [%q]}}
`, data, admin, failingOrigin(t))), true)
	d.serving(data, admin)
	d.signal(syscall.SIGABRT)
	d.wantExit(exitUsage) // the runtime's own code, 2
}

// The second signal is heard while the first cannot be answered.
func TestSecondSignalEndsAProgramThatIsStuck(t *testing.T) {
	s := newSignals()
	in, ended := make(chan os.Signal), make(chan os.Signal, 1)
	go s.dispatch(in, func(sig os.Signal) { ended <- sig })
	defer close(in)
	for range 100 {
		in <- syscall.SIGUSR1 // nobody takes them
	}
	in <- syscall.SIGTERM
	in <- syscall.SIGINT
	if got := <-ended; got != syscall.SIGINT {
		t.Errorf("got %v, want the second", got)
	}
	if got := <-s.stop; got != syscall.SIGTERM {
		t.Errorf("got %v, want the first", got)
	}
}

// A start that fails has written the reason when it ends.
func TestFailedStartSaysWhy(t *testing.T) {
	t.Parallel()
	address := taken(t)
	got := runBinary(t, "serve", "--origin", "http://127.0.0.1:9", "--listen", address, "--admin", "127.0.0.1:0")
	if got.code != exitFailed || !strings.Contains(got.stderr, "address already in use") {
		t.Errorf("got %d %q, want %d and the reason", got.code, got.stderr, exitFailed)
	}
}
