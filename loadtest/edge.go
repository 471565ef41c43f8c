package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"edgeproxy/internal/lab/process"
)

const edgeServer = "edgeproxy" // its name in messages

// edge is one edgeproxy process.
type edge struct {
	*process.Process
	config edgeConfig
}

// startEdge starts the program with c on free ports and returns once it is ready.
func startEdge(ctx context.Context, program, dir string, c edgeConfig) (*edge, error) {
	return process.OnFreePorts(func(listen, admin string) (*edge, error) {
		c.listen, c.admin = listen, admin
		file := filepath.Join(dir, c.rule.Policy.String()+".yaml")
		if err := os.WriteFile(file, c.yaml(), 0o600); err != nil {
			return nil, fmt.Errorf("write edgeproxy's configuration: %w", err)
		}
		child, err := process.Start(process.Command{Name: edgeServer, Path: program, Args: []string{"serve", "-c", file}})
		if err != nil {
			return nil, err
		}
		e := &edge{Process: child, config: c}
		return e, e.Await(ctx, e.ready)
	})
}

func (e *edge) address() string { return e.config.listen }

func (e *edge) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.config.admin+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	req.Close = true // an idle connection would outlive the process
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
