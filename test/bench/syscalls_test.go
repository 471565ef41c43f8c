package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/lab/process"
	"edgeproxy/internal/test/testkit"
)

// call is one system call that moved bytes.
type call struct {
	name string
	fd   int
	args string
	n    int // bytes moved; below 0 for a failure
}

// reads reports whether c reads from a socket: by a call that Go's scheduler is told of, or by one that it
// is not told of.
func reads(c call) bool { return c.name == "read" || c.name == "recvfrom" }

// word is the name of c, one for both ways to read.
func (c call) word() string {
	if reads(c) {
		return "read"
	}
	return c.name
}

// moving are the calls that can move bytes to or from a connection.
const moving = "read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,sendfile,splice"

var (
	callLine = regexp.MustCompile(`^(\w+)\((\d+), (.*)\)\s+= (-?\d+)`)
	iovec    = regexp.MustCompile(`iov_len=(\d+)`)
)

// goodbye is the method of a last request, and refusal how its answer begins.
const (
	goodbye = "GOODBYE"
	refusal = "HTTP/1.1 400"
)

// sayGoodbye asks for what is refused. The client may have the last answer before
// strace has seen the end of the call that sent it; once there is an answer to
// another request, strace has.
func sayGoodbye(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write([]byte(goodbye + " / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len(refusal))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != refusal {
		t.Fatalf("answer to %s: got %q and error %v, want %s", goodbye, answer, err, refusal)
	}
}

// hitCalls are the successful calls on the connection of a client that asked
// hits times, and nobody else did.
func hitCalls(t *testing.T, edge *process.Process, size, hits int) []call {
	t.Helper()
	at := serverOf(edge, hitMark)
	if err := at.fill(t.Context(), size); err != nil {
		t.Fatal(err)
	}
	s, err := (&scene{o: options{connections: 1}}).dialHits(at, size)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func() {
		if err := s.one(0, s.requests[0]); err != nil {
			t.Error(err)
		}
	}
	ask() // the connection is accepted, and its buffers are there
	calls := trace(t, edge.PID(), func() {
		for range hits {
			ask()
		}
		sayGoodbye(t, s.conns[0])
	})
	fd := -1
	for _, c := range calls {
		if reads(c) && strings.HasPrefix(c.args, `"GET /`) {
			fd = c.fd
		}
	}
	var out []call
	for _, c := range calls {
		if c.fd == fd && c.n > 0 && !strings.Contains(c.args, goodbye) && !strings.Contains(c.args, refusal) {
			out = append(out, c)
		}
	}
	return out
}

// trace returns the calls of the process while work runs. Every thread has a
// file of its own, so that no line is broken by another thread's.
func trace(t *testing.T, pid int, work func()) []call {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-ff", "-o", prefix, "-s", "16", "-e", "trace="+moving, "-p", strconv.Itoa(pid))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*testkit.Patience, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	said := bufio.NewScanner(stderr)
	attached := said.Scan() && strings.Contains(said.Text(), " attached")
	first := said.Text()
	if attached {
		work()
		_ = cmd.Process.Signal(syscall.SIGTERM) // an interrupt is ignored where a shell runs the tests in the background
	}
	for said.Scan() {
		continue // the pipe must not fill up
	}
	_ = cmd.Wait() // ends by the signal
	if !attached {
		t.Skip("strace may not attach: " + first)
	}
	return readTrace(t, prefix)
}

func readTrace(t *testing.T, prefix string) []call {
	t.Helper()
	files, err := filepath.Glob(prefix + ".*")
	if err != nil || len(files) == 0 {
		t.Fatalf("traces: got %q, %v, want a file for each thread", files, err)
	}
	var out []call
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			m := callLine.FindStringSubmatch(line)
			if m == nil {
				continue // interrupted when strace came or went
			}
			fd, _ := strconv.Atoi(m[2])
			n, _ := strconv.Atoi(m[4])
			out = append(out, call{name: m[1], fd: fd, args: m[3], n: n})
		}
	}
	return out
}

// traceable returns an edge before an origin, which ends with the test. It needs strace.
func traceable(t *testing.T) *process.Process {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not there")
	}
	s := &scene{o: options{program: testkit.Built(t)}, dir: t.TempDir()}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if s.origin, err = startOrigin(); err != nil {
		t.Fatal(err)
	}
	s.later(s.origin.Close)
	program, err := s.start(t.Context(), edge{name: "edgeproxy"})
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func TestHitIsOneReadAndOneWrite(t *testing.T) {
	const hits = 50
	edge := traceable(t)
	f := func(size int, wantCall string) {
		t.Helper()
		t.Run(sizeText(size), func(t *testing.T) {
			counts := map[string]int{}
			for _, c := range hitCalls(t, edge, size, hits) {
				counts[c.word()]++
				if c.name == wantCall {
					checkWrite(t, c, size)
				}
			}
			want := map[string]int{"read": hits, wantCall: hits}
			if fmt.Sprint(counts) != fmt.Sprint(want) {
				t.Errorf("successful calls for %d hits: got %v, want %v", hits, counts, want)
			}
		})
	}
	f(1<<10, "sendto")
}

// TestLargeHitIsOneReadAndOneWrite: once it has a copy, one message with its head and one call that
// sends from the copy; before, one vector. The copy is made beside the hits, which takes its time.
func TestLargeHitIsOneReadAndOneWrite(t *testing.T) {
	const hits, most = 50, 20
	edge := traceable(t)
	for _, size := range []int{16 << 10, 256 << 10} {
		copied := false
		for n := 0; n < most && !copied; n++ {
			counts, sent := map[string]int{}, 0
			for _, c := range hitCalls(t, edge, size, hits) {
				counts[c.word()]++
				if checkWrite(t, c, size); c.name == "sendfile" {
					sent += c.n
				}
			}
			bodies := sent / size // now and then one goes in two calls, where its socket is full
			if calls := counts["sendfile"]; sent%size != 0 || calls-bodies > hits/10 {
				t.Errorf("sendfile: got %d bytes by %d calls, want bodies of %d by one call each", sent, calls, size)
			}
			counts["sendfile"] = bodies
			if counts["read"] != hits || counts["writev"]+counts["sendmsg"]+counts["sendfile"] != hits || counts["sendto"] != counts["sendfile"] {
				t.Fatalf("successful calls for %d hits of %s: got %v", hits, sizeText(size), counts)
			}
			copied = counts["sendfile"] > 0
		}
		if !copied {
			t.Errorf("%s: none of %d hits was sent from a copy", sizeText(size), hits*most)
		}
	}
}

// checkWrite looks at the vector of a writev or sendmsg: a head, and a body of just its
// length. A body that went through a buffer would be one piece with the head.
func checkWrite(t *testing.T, c call, size int) {
	t.Helper()
	if c.name != "writev" && c.name != "sendmsg" {
		return
	}
	pieces := iovec.FindAllStringSubmatch(c.args, -1)
	if len(pieces) != 2 || pieces[1][1] != strconv.Itoa(size) {
		t.Errorf("%s: got pieces %v, want a head and a body of %d bytes", c.name, pieces, size)
	}
}
