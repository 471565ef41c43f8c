package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	startWait = 20 * time.Second
	stopWait  = 15 * time.Second
)

// process is a server in a process of its own. Whatever it says goes to a file.
type process struct {
	name    string
	address string // host:port
	log     *os.File
	cmd     *exec.Cmd
	stdin   io.Closer // open as long as the process may run
	ended   chan error
}

// start runs cmd and returns once it has said its address: address finds it in a
// line of output, "" if it is not there.
func start(name, log string, address func(line []byte) string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, cmd: cmd, ended: make(chan error, 1)}
	p.cmd.WaitDelay = time.Second
	var err error
	if p.log, err = os.Create(log); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	said := &announcer{to: p.log, find: address, found: make(chan string, 1)}
	p.cmd.Stdout, p.cmd.Stderr = said, said
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		_ = p.log.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	if err := p.await(said.found); err != nil {
		_ = p.Close() // what went wrong is known
		return nil, err
	}
	return p, nil
}

func (p *process) await(found <-chan string) error {
	timer := time.NewTimer(startWait)
	defer timer.Stop()
	select {
	case p.address = <-found:
		return nil
	case err := <-p.ended:
		p.ended <- err
		return fmt.Errorf("%s ended before it served, see %s: %w", p.name, p.log.Name(), err)
	case <-timer.C:
		return fmt.Errorf("%s did not serve within %v, see %s", p.name, startWait, p.log.Name())
	}
}

// Close ends the process, by force if it does not go, and waits for it. A process
// that ended by itself, or not in order, is an error.
func (p *process) Close() error {
	defer p.log.Close() //nolint:errcheck // a log that is not whole changes no result
	select {
	case err := <-p.ended:
		return fmt.Errorf("%s ended by itself, see %s: %w", p.name, p.log.Name(), err)
	default:
	}
	_ = p.stdin.Close()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case err := <-p.ended:
		return p.verdict(err)
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("%s did not stop within %v, see %s: %w", p.name, stopWait, p.log.Name(), <-p.ended)
	}
}

// verdict takes the end by our own signal for a good one.
func (p *process) verdict(err error) error {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
		return nil
	}
	return fmt.Errorf("%s, see %s: %w", p.name, p.log.Name(), err)
}

// announcer copies what a process says, and sends the address that the first line
// with one contains. exec calls Write from one goroutine at a time.
type announcer struct {
	to    io.Writer
	find  func(line []byte) string
	found chan string // takes one without a reader
	line  []byte      // begun, not ended
}

// Write implements io.Writer.
func (a *announcer) Write(text []byte) (int, error) {
	if a.find != nil {
		a.line = append(a.line, text...)
		a.look()
	}
	return a.to.Write(text)
}

func (a *announcer) look() {
	for {
		line, rest, ended := bytes.Cut(a.line, []byte("\n"))
		if !ended {
			return
		}
		a.line = rest
		if address := a.find(line); address != "" {
			a.found <- address
			a.find, a.line = nil, nil
			return
		}
	}
}
