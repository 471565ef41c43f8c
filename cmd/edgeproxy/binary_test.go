package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// patience keeps a process that hangs from hanging the tests; nothing waits for it
// to pass.
const patience = testkit.Patience

// startPatience is for a start, which reads all of a file and makes all of its series.
const startPatience = 4 * patience

var (
	eventually = testkit.Eventually
	renameOver = testkit.RenameOver
	writeFile  = testkit.WriteFile
)

// besideEachOther is how many tests run at once for each processor: most of them wait for processes, and for their timeouts.
const besideEachOther = 3

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(besideEachOther*runtime.GOMAXPROCS(0))) // a number is right
	}
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

// program builds the program at most once and returns its path.
func program(t *testing.T) string {
	t.Helper()
	return testkit.Built(t)
}

// finished is what a program said and how it ended.
type finished struct {
	code           int
	stdout, stderr string
}

// runBinary runs the program to its end.
func runBinary(t *testing.T, args ...string) finished {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program(t), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return finished{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// server is a program that serves.
type server struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string // the data listener
	admin   string

	ended chan struct{} // closed when it has ended

	mu  sync.Mutex
	log []logLine
}

// logLine is one line of the program's log.
type logLine struct {
	Message   string   `json:"msg"`
	Level     string   `json:"level"`
	Addresses []string `json:"addresses"`
	Admin     string   `json:"admin"`
	Error     string   `json:"error"`
	Warning   string   `json:"warning"`

	Cause, Result string // why a reload was asked for, and what came of it

	// Of what is about a request.
	Host, Target, Route, Client, Origin string
	RequestID                           string `json:"request_id"`
}

// serveBinary starts the program on free ports and waits until it serves. At the
// end of the test it is killed if need be.
func serveBinary(t *testing.T, args ...string) *server {
	t.Helper()
	return serveCmd(t, exec.Command(program(t), append([]string{"serve"}, args...)...))
}

// serveCmd is serveBinary for a command that runs the program.
func serveCmd(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, ended: make(chan struct{})}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan logLine, 1)
	go func() {
		defer close(s.ended)
		s.follow(stderr, serving)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	})
	select {
	case l := <-serving:
		s.address, s.admin = l.Addresses[0], l.Admin
	case <-s.ended:
		t.Fatalf("ended with %d before it served: %v", s.cmd.ProcessState.ExitCode(), s.lines())
	case <-time.After(startPatience):
		t.Fatal("does not say that it serves")
	}
	return s
}

// follow keeps the lines of the log.
func (s *server) follow(r io.Reader, serving chan<- logLine) {
	for in := bufio.NewScanner(r); in.Scan(); {
		var l logLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			l.Message = in.Text()
		}
		s.mu.Lock()
		s.log = append(s.log, l)
		s.mu.Unlock()
		if l.Message == "serving" {
			serving <- l
		}
	}
}

func (s *server) lines() []logLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]logLine(nil), s.log...)
}

func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// wantExit waits for the end and compares the exit code.
func (s *server) wantExit(want int) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatal("does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("exit code: got %d, want %d; log: %v", got, want, s.lines())
	}
}

// metric reads one metric as it is written; "" where there is none.
func (s *server) metric(name string) string {
	_, metrics := get(s.t, "http://"+s.admin+"/metrics")
	_, rest, _ := strings.Cut("\n"+metrics, "\n"+name+" ")
	text, _, _ := strings.Cut(rest, "\n")
	return text
}

// gauge reads one metric; 0 where there is none.
func (s *server) gauge(name string) float64 {
	n, _ := strconv.ParseFloat(s.metric(name), 64)
	return n
}

// connections reads how many clients are connected.
func (s *server) connections() string { return s.metric(`edgeproxy_connections{state="open"}`) }

// metricsAtRest returns the metrics once no request and no body is in flight. A
// client can see the end of a streamed answer a moment before it is counted.
func (s *server) metricsAtRest() (text string) {
	s.t.Helper()
	eventually(s.t, "no request and no body is in flight", func() bool {
		_, text = get(s.t, "http://"+s.admin+"/metrics")
		return strings.Contains(text, "\nedgeproxy_requests_in_flight 0\n") && strings.Contains(text, "\nedgeproxy_inflight_bytes 0\n")
	})
	return text
}

// get asks url on a connection of its own.
func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return res, string(body)
}

// taken returns an address that somebody listens on.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
