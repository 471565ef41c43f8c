package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	readyWait     = 20 * time.Second
	readyEvery    = 20 * time.Millisecond
	stopWait      = 15 * time.Second
	startAttempts = 3
	tailBytes     = 16 << 10
)

// errEnded is the cause of a run that lost its edgeproxy, whoever ended it.
var errEnded = errors.New("edgeproxy ended before the run did")

// edge is one edgeproxy process. It dies with the driver: on Close, and on Linux
// also when the driver is killed.
type edge struct {
	config   edgeConfig
	cmd      *exec.Cmd
	log      tail
	admin    http.Client
	stopWait time.Duration // from the request to stop until the kill
	done     chan struct{} // closed when the process is gone
	err      error         // how it ended; to be read after done
}

// buildEdge compiles edgeproxy into dir and returns the program's path.
func buildEdge(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "edgeproxy")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "edgeproxy/cmd/edgeproxy")
	cmd.SysProcAttr = processAttributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build edgeproxy (run from inside the repository, or give --edgeproxy): %w\n%s", err, out)
	}
	return path, nil
}

// startEdge starts the program with c on free ports and returns once it is ready.
// The ports are free when they are chosen; if somebody else is quicker to bind
// one, it tries again.
func startEdge(ctx context.Context, program, dir string, c edgeConfig) (*edge, error) {
	var err error
	for range startAttempts {
		var e *edge
		if e, err = launch(program, dir, c); err != nil {
			return nil, err
		}
		if err = e.awaitReady(ctx); err == nil {
			return e, nil
		}
		closeErr := e.Close()
		if !strings.Contains(e.log.String(), "address already in use") {
			return nil, errors.Join(err, closeErr)
		}
	}
	return nil, err
}

func launch(program, dir string, c edgeConfig) (*edge, error) {
	var err error
	if c.listen, c.admin, err = freeAddresses(); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, c.policy+".yaml")
	if err := os.WriteFile(file, c.yaml(), 0o600); err != nil {
		return nil, fmt.Errorf("write edgeproxy's configuration: %w", err)
	}
	e := &edge{config: c, stopWait: stopWait, done: make(chan struct{})}
	// Loopback needs no proxy, and an idle connection would outlive the process.
	e.admin.Transport = &http.Transport{DisableKeepAlives: true}
	e.cmd = exec.Command(program, "serve", "-c", file)
	e.cmd.Stdout, e.cmd.Stderr = &e.log, &e.log
	e.cmd.SysProcAttr = processAttributes()
	e.cmd.WaitDelay = time.Second
	started := make(chan error, 1)
	go e.supervise(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start edgeproxy: %w", err)
	}
	return e, nil
}

// supervise keeps its thread until the process is gone: Linux sends the signal
// of a dying parent when the thread that started the child ends.
func (e *edge) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := e.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	e.err = e.cmd.Wait()
	close(e.done)
}

// Close asks the process to stop, kills it if it does not in time, and waits. The
// error says that it did not end as it should.
func (e *edge) Close() error {
	_ = terminate(e.cmd.Process) // it may be gone already
	timer := time.NewTimer(e.stopWait)
	defer timer.Stop()
	select {
	case <-e.done:
	case <-timer.C:
		_ = kill(e.cmd.Process)
		<-e.done
		return fmt.Errorf("edgeproxy did not stop within %s and was killed", e.stopWait)
	}
	if e.err != nil {
		return fmt.Errorf("edgeproxy ended with %w\n%s", e.err, e.log.String())
	}
	return nil
}

// watch returns a context that ends when the process does.
func (e *edge) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-e.done:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-over }
}

func (e *edge) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWait, fmt.Errorf("edgeproxy was not ready within %s", readyWait))
	defer cancel()
	ctx, stop := e.watch(ctx)
	defer stop()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for !e.ready(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("start edgeproxy: %w\n%s", context.Cause(ctx), e.log.String())
		}
	}
	return nil
}

func (e *edge) ready(ctx context.Context) bool {
	resp, err := e.get(ctx, "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// get asks the admin listener. The caller closes the body.
func (e *edge) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.config.admin+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4") // of /metrics; no other form is read here
	return e.admin.Do(req)
}

// freeAddresses returns two loopback addresses that nobody listened on just now.
func freeAddresses() (listen, admin string, err error) {
	var addrs [2]string
	for i := range addrs {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", fmt.Errorf("find a free port: %w", err)
		}
		defer ln.Close() // both are held until both are known, so they differ
		addrs[i] = ln.Addr().String()
	}
	return addrs[0], addrs[1], nil
}
