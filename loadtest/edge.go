package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	readyWait     = 20 * time.Second
	readyEvery    = 20 * time.Millisecond
	startAttempts = 3

	edgeServer = "edgeproxy" // its name in messages
)

// edge is one edgeproxy process.
type edge struct {
	*process
	config edgeConfig
	admin  http.Client
}

// buildEdge compiles edgeproxy into dir and returns the program's path.
func buildEdge(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "edgeproxy")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "edgeproxy/cmd/edgeproxy")
	cmd.SysProcAttr = processAttributes(syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build edgeproxy (run from inside the repository, or give --edgeproxy): %w\n%s", err, out)
	}
	return path, nil
}

// startEdge starts the program with c on free ports and returns once it is ready.
func startEdge(ctx context.Context, program, dir string, c edgeConfig) (*edge, error) {
	return startOnFreePorts(func(listen, admin string) (*edge, error) {
		c.listen, c.admin = listen, admin
		file := filepath.Join(dir, c.rule.Policy.String()+".yaml")
		if err := os.WriteFile(file, c.yaml(), 0o600); err != nil {
			return nil, fmt.Errorf("write edgeproxy's configuration: %w", err)
		}
		child, err := launch(edgeServer, exec.Command(program, "serve", "-c", file), syscall.SIGTERM, syscall.SIGKILL)
		if err != nil {
			return nil, err
		}
		e := &edge{process: child, config: c}
		// Loopback needs no proxy, and an idle connection would outlive the process.
		e.admin.Transport = &http.Transport{DisableKeepAlives: true}
		return e, e.await(ctx, e.ready)
	})
}

func (e *edge) address() string { return e.config.listen }

func (e *edge) ready(ctx context.Context) bool {
	resp, err := e.get(ctx, "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// get sends a GET to the admin listener. The caller closes the body.
func (e *edge) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.config.admin+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4") // the only format of /metrics that exposition.go reads
	return e.admin.Do(req)
}
