package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	stopWait  = 15 * time.Second
	tailBytes = 16 << 10
)

// errEnded is the cause of a run whose proxy ended before it.
var errEnded = errors.New("it ended before the end of the run")

// process is one proxy that the driver started. It ends on Close, and on Linux also
// when the driver is killed.
type process struct {
	name     string // for messages
	cmd      *exec.Cmd
	log      tail
	stop     syscall.Signal // asks it to end
	stopWait time.Duration  // from the stop signal to the kill
	done     chan struct{}  // closed when the process has ended
	err      error          // how it ended; read it only after done is closed
}

// launch starts cmd. The signal stop asks it to end. The kernel sends it the signal death
// when the driver dies.
func launch(name string, cmd *exec.Cmd, stop, death syscall.Signal) (*process, error) {
	p := &process{name: name, cmd: cmd, stop: stop, stopWait: stopWait, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	cmd.SysProcAttr = processAttributes(death)
	cmd.WaitDelay = time.Second
	started := make(chan error, 1)
	go p.supervise(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// supervise keeps its thread locked until the process has ended: Linux sends the
// parent-death signal when the thread that started the child ends.
func (p *process) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	if p.err = p.cmd.Wait(); p.err != nil {
		_ = kill(p.cmd.Process) // it may have left children behind
	}
	close(p.done)
}

// Close asks the process to stop, kills it and its children if it does not stop in
// time, and waits. The error says that it did not end properly.
func (p *process) Close() error {
	_ = p.cmd.Process.Signal(p.stop) // it may be gone already
	timer := time.NewTimer(p.stopWait)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = kill(p.cmd.Process)
		<-p.done
		return fmt.Errorf("%s did not stop within %s and was killed", p.name, p.stopWait)
	}
	if p.err != nil {
		return fmt.Errorf("%s ended with %w\n%s", p.name, p.err, p.log.String())
	}
	return nil
}

// logTail returns the end of the process's output.
func (p *process) logTail() string { return p.log.String() }

// watch returns a context that ends when the process does.
func (p *process) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-p.done:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-over }
}

// await calls ready every readyEvery until it returns true, the process ends or
// readyWait is over.
func (p *process) await(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWait, fmt.Errorf("it was not ready within %s", readyWait))
	defer cancel()
	ctx, stop := p.watch(ctx)
	defer stop()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w\n%s", p.name, context.Cause(ctx), p.logTail())
		}
	}
	return nil
}
