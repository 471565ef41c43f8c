package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	readyWait  = 20 * time.Second
	readyEvery = 20 * time.Millisecond
	stopWait   = 15 * time.Second
)

// ErrEnded is the cause of a context of Watch whose process has ended.
var ErrEnded = errors.New("it ended before the end of the run")

// Command is a program with how it is run. Only Name and Path are needed.
type Command struct {
	Name   string // for messages
	Path   string
	Args   []string
	Dir    string                   // where it runs; "" is this program's folder
	Env    []string                 // what it has beside this program's environment
	Stop   syscall.Signal           // what asks it to end; 0 is SIGTERM
	Death  syscall.Signal           // what the kernel sends it when this program dies, on Linux; 0 is SIGKILL
	Output io.Writer                // what gets all that it says, too; nil is nothing
	Finds  func(line string) string // what finds the address in a line that it says, "" for none; see AwaitAddress
}

// Process is a program that runs. Its standard input is open until Close.
type Process struct {
	Name    string
	Address string // host:port, once AwaitAddress or AwaitListener has returned

	cmd      *exec.Cmd
	stdin    io.Closer
	said     output
	stop     syscall.Signal
	patience time.Duration // from the stop signal to the kill
	done     chan struct{} // closed when the process has ended
	err      error         // how it ended; read it only after done is closed
	close    func() error
}

// Start runs a program. The caller closes the process.
func Start(c Command) (*Process, error) {
	p := &Process{Name: c.Name, cmd: exec.Command(c.Path, c.Args...), stop: cmp.Or(c.Stop, syscall.SIGTERM), patience: stopWait, done: make(chan struct{})}
	p.close = sync.OnceValue(p.end)
	p.said = output{to: c.Output, finds: c.Finds, found: make(chan string, 1)}
	p.cmd.Dir, p.cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.SysProcAttr = Attributes(cmp.Or(c.Death, syscall.SIGKILL))
	p.cmd.WaitDelay = time.Second
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		started := make(chan error, 1)
		go p.supervise(started)
		err = <-started
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	return p, nil
}

// supervise keeps its thread locked until the process has ended: Linux sends the parent-death signal when the thread that started the
// child ends.
func (p *Process) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	if p.err = p.cmd.Wait(); p.err != nil {
		_ = killGroup(p.cmd.Process) // it may have left children behind
	}
	close(p.done)
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Log returns the end of what the process has said, at most 16 KiB.
func (p *Process) Log() string { return p.said.String() }

// Close asks the process to stop, kills it and its children if it does not stop in time, and waits. The error says that it ended by
// itself, or not properly. Once closed, it returns the same again.
func (p *Process) Close() error { return p.close() }

func (p *Process) end() error {
	select {
	case <-p.done:
		if p.err == nil {
			return fmt.Errorf("%s ended by itself\n%s", p.Name, p.Log())
		}
		return p.ended()
	default:
	}
	_ = p.stdin.Close()
	_ = p.Signal(p.stop) // it may be gone already
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = killGroup(p.cmd.Process)
		<-p.done
		return fmt.Errorf("%s did not stop within %s and was killed", p.Name, p.patience)
	}
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); p.err == nil || ok && s.Signaled() && s.Signal() == p.stop {
		return nil
	}
	return p.ended()
}

func (p *Process) ended() error { return fmt.Errorf("%s ended with %w\n%s", p.Name, p.err, p.Log()) }

// Watch returns a context that ends when the process does, with the cause ErrEnded.
func (p *Process) Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-p.done:
			cancel(ErrEnded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-over }
}

// Await calls ready again and again until it returns true. The error says that the process has ended, that 20 seconds were over,
// or why ctx ended.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWait, fmt.Errorf("it was not ready within %s", readyWait))
	defer cancel()
	ctx, stop := p.Watch(ctx)
	defer stop()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w\n%s", p.Name, context.Cause(ctx), p.Log())
		}
	}
	return nil
}

// AwaitListener awaits that address takes connections.
func (p *Process) AwaitListener(ctx context.Context, address string) error {
	p.Address = address
	return p.Await(ctx, func(ctx context.Context) bool {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// AwaitAddress awaits that the process says its address, which Command.Finds finds.
func (p *Process) AwaitAddress(ctx context.Context) error {
	return p.Await(ctx, func(context.Context) bool {
		select {
		case p.Address = <-p.said.found:
		default:
		}
		return p.Address != ""
	})
}
