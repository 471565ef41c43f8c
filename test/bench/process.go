package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	startWait = 20 * time.Second
	stopWait  = 10 * time.Second
)

// process is a server in a process of its own, with one processor to run on.
type process struct {
	name    string
	address string // host:port
	cmd     *exec.Cmd
	stdin   io.Closer // open as long as the process may run
	said    []string  // its lines up to the address; await reads them once that has come
	ended   chan error
}

// buildEdge compiles edgeproxy into dir and returns the program's path.
func buildEdge(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "edgeproxy")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "edgeproxy/cmd/edgeproxy").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build edgeproxy (run from inside the repository, or give --edgeproxy): %w\n%s", err, out)
	}
	return path, nil
}

// startEdge starts edgeproxy with its defaults, and more flags.
func startEdge(program, origin string, flags ...string) (*process, error) {
	return start("edgeproxy", edgeAddress, program, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--origin", "http://" + origin,
	}, flags...)...)
}

// edgeAddress finds the address in a line of edgeproxy's log.
func edgeAddress(line string) string {
	var entry struct {
		Msg       string   `json:"msg"`
		Addresses []string `json:"addresses"`
	}
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "serving" || len(entry.Addresses) == 0 {
		return ""
	}
	return entry.Addresses[0]
}

// startBare starts this program once more, as the server to compare with.
func startBare() (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	return start("bare", func(line string) string { return line }, self, bareCommand)
}

// start runs a program and returns once it has said its address: address finds
// it in a line of output, "" if it is not there.
func start(name string, address func(line string) string, program string, args ...string) (*process, error) {
	output, w := io.Pipe()
	p, err := launchTo(w, name, nil, program, args...)
	if err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go p.listen(output, address, found)
	if err := p.await(found); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// launch runs a program that says nothing of interest.
func launch(name, program string, args ...string) (*process, error) {
	return launchTo(nopCloser{io.Discard}, name, nil, program, args...)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// launchTo runs a program, with more in its environment, whose output goes to w, which is closed when the
// program has ended.
func launchTo(w io.WriteCloser, name string, env []string, program string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(program, args...), ended: make(chan error, 1)}
	p.cmd.Env = append(append(os.Environ(), "GOMAXPROCS=1"), env...)
	p.cmd.WaitDelay = time.Second
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.stdin = stdin
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		err := p.cmd.Wait()
		_ = w.Close()
		p.ended <- err
	}()
	return p, nil
}

// listen reads the output to its end and sends the address, or "" if the output
// ended before it.
func (p *process) listen(output io.Reader, address func(string) string, found chan<- string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		p.said = append(p.said, lines.Text())
		if a := address(lines.Text()); a != "" {
			found <- a
			_, _ = io.Copy(io.Discard, output)
			return
		}
	}
	found <- ""
	_, _ = io.Copy(io.Discard, output) // a line too long for the scanner
}

func (p *process) await(found <-chan string) error {
	timer := time.NewTimer(startWait)
	defer timer.Stop()
	select {
	case p.address = <-found:
		if p.address != "" {
			return nil
		}
		return fmt.Errorf("%s said no address: %s", p.name, strings.Join(p.said, "\n"))
	case <-timer.C:
		return fmt.Errorf("%s did not start within %v", p.name, startWait)
	}
}

// Close ends the process, by force if it does not go, and waits for it.
func (p *process) Close() error {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case err := <-p.ended:
		return p.verdict(err)
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("%s did not stop within %v: %w", p.name, stopWait, <-p.ended)
	}
}

// verdict takes the end by our own signal for a good one.
func (p *process) verdict(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
