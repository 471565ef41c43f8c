package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// WithEdge calls do with the path of edgeproxy: given, or if that is "" one that it builds from the module with the folder root and removes
// afterwards.
func WithEdge(ctx context.Context, root, given string, do func(program string) error) (err error) {
	if given != "" {
		return do(given)
	}
	dir, err := os.MkdirTemp("", "edgeproxy-built-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "edgeproxy")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "edgeproxy/cmd/edgeproxy")
	cmd.Dir = root
	cmd.SysProcAttr = Attributes(syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build edgeproxy (run from inside the repository, or give --edgeproxy): %w\n%s", err, out)
	}
	return do(path)
}

// FreeAddresses returns n addresses of the loopback that were free a moment ago.
func FreeAddresses(n int) (out []string, err error) {
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer ln.Close() // all are held until all are known, so they differ
		out = append(out, ln.Addr().String())
	}
	return out, nil
}

const startAttempts = 3

// OnFreePorts calls start with two free addresses. If another process binds one first, it tries again with others. If what start has started
// does not become ready, start returns it together with an error.
func OnFreePorts[P interface {
	comparable
	Log() string
	Close() error
}](start func(listen, admin string) (P, error),
) (P, error) {
	var none P
	var err error
	for range startAttempts {
		at, findErr := FreeAddresses(2)
		if findErr != nil {
			return none, findErr
		}
		var p P
		if p, err = start(at[0], at[1]); err == nil {
			return p, nil
		}
		if p == none {
			return none, err
		}
		closeErr := p.Close()
		if !strings.Contains(strings.ToLower(p.Log()), "address already in use") {
			return none, errors.Join(err, closeErr)
		}
	}
	return none, err
}
