package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// profileTime is how long each work is profiled.
const profileTime = 30 * time.Second

// profile has edgeproxy do the works that most of its requests are, and writes where its CPU time went to path. The
// compiler reads that: see docs/decisions/0079.
func (o options) profile(ctx context.Context, path string) (err error) {
	g := &gatherer{o: o}
	if g.dir, err = os.MkdirTemp("", "edgeproxy-profile-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.dir)) }()
	if g.origin, err = startOrigin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.origin.Close()) }()
	for _, policy := range []string{"second-hit", "always"} {
		if err := g.gather(ctx, policy); err != nil {
			return fmt.Errorf("policy %s: %w", policy, err)
		}
	}
	// Time within system calls is left out: nothing that the compiler does makes it less, and beside it half of what can be
	// made faster would pass for rarely used.
	args := append([]string{"tool", "pprof", "-proto", "-ignore=runtime/syscall", "-output=" + path}, g.parts...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("put the profiles together: %w\n%s", err, out)
	}
	return nil
}

// gatherer gathers the profiles of single works.
type gatherer struct {
	o      options
	dir    string
	origin *originServer
	parts  []string // their files
}

// gather profiles what edgeproxy does by a policy.
func (g *gatherer) gather(ctx context.Context, policy string) (err error) {
	admin, err := freeAddress()
	if err != nil {
		return err
	}
	secure, err := freeAddress()
	if err != nil {
		return err
	}
	edge, err := g.start(policy, admin, secure)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, edge.Close()) }()
	works := []preparation{{"stored", g.misses(edge, "; stored")}}
	if policy == "second-hit" {
		works = []preparation{
			{"1k", g.hits(edge, 1<<10)}, {"16k", g.hits(edge, 16<<10)}, {"miss", g.misses(edge, missMark)}, {"h2", g.overHTTP2(edge, secure)},
		}
	}
	for _, p := range works {
		w, err := p.prepare(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := g.one(ctx, admin, filepath.Join(g.dir, p.name), w.contenders[0]); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (g *gatherer) start(policy, admin, secure string) (*process, error) {
	cert, _, err := selfSigned(g.dir)
	if err != nil {
		return nil, err
	}
	file, err := writeFile(g.dir, "edgeproxy.yaml", fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}, {address: %q, tls: true}]\n"+
		"admin: {address: %q, pprof: true}\norigins: {app: {servers: [\"http://%s\"]}}\nadmission: {policy: %s}\n"+
		"tls: {certificates: [{certificate: %q, key: %q}]}\n", secure, admin, g.origin.address, policy, cert.certificate, cert.key))
	if err != nil {
		return nil, err
	}
	return start("edgeproxy", edgeAddress, g.o.program, "serve", "-c", file)
}

// one has c work, and writes the profile of that time to path.
func (g *gatherer) one(ctx context.Context, admin, path string, c contender) error {
	if _, err := c.ask(ctx, settle); err != nil {
		return err
	}
	got := make(chan error, 1)
	go func() { got <- saveProfile(ctx, admin, path) }()
	for {
		if _, err := c.ask(ctx, time.Second); err != nil {
			return errors.Join(err, <-got)
		}
		select {
		case err := <-got:
			g.parts = append(g.parts, path)
			return err
		default:
		}
	}
}

// saveProfile writes what edgeproxy says of the CPU time of the next profileTime.
func saveProfile(ctx context.Context, admin, path string) (err error) {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, profileTime/time.Second)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask for a profile: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for a profile: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for a profile: %s", resp.Status)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}

func (g *gatherer) hits(edge *process, size int) func(context.Context) (work, error) {
	return func(ctx context.Context) (work, error) {
		s, err := g.o.connect(ctx, edge, size, hitMark)
		if err != nil {
			return work{}, err
		}
		return of(edge, s.clients), nil
	}
}

func (g *gatherer) misses(edge *process, mark string) func(context.Context) (work, error) {
	return func(context.Context) (work, error) {
		c, err := dial(edge.address, g.o.connections, nil, wanted{size: freshSize, mark: mark})
		if err != nil {
			return work{}, err
		}
		c.fresh = func() []byte { return freshPage(freshSize).request(edge.address) }
		return of(edge, c), nil
	}
}

// of is the work of answering c.
func of(edge *process, c *clients) work {
	return work{contenders: []contender{{name: edge.name, pid: edge.pid(), ask: func(_ context.Context, d time.Duration) (int64, error) { return c.ask(d) }}}}
}

func (g *gatherer) overHTTP2(edge *process, secure string) func(context.Context) (work, error) {
	return func(context.Context) (work, error) {
		program, err := exec.LookPath("h2load")
		if err != nil {
			return work{}, fmt.Errorf("h2load is needed: %w", err)
		}
		return work{contenders: []contender{{name: edge.name, pid: edge.pid(), ask: func(ctx context.Context, _ time.Duration) (int64, error) {
			return h2load(ctx, program, secure)
		}}}}, nil
	}
}
