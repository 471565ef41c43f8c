package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"edgeproxy/internal/lab/process"
)

// profileTime is how long each work is profiled.
const profileTime = 30 * time.Second

// profile has edgeproxy do the works that most of its requests are, and writes where its CPU time went to path. The
// compiler reads that: see docs/decisions/0079.
func (s *scene) profile(ctx context.Context, path string) error {
	var parts []string
	for _, policy := range []string{"second-hit", "always"} {
		more, err := s.gather(ctx, policy)
		if err != nil {
			return fmt.Errorf("policy %s: %w", policy, err)
		}
		parts = append(parts, more...)
	}
	// Time within system calls is left out: nothing that the compiler does makes it less, and beside it half of what can be
	// made faster would pass for rarely used.
	args := append([]string{"tool", "pprof", "-proto", "-ignore=runtime/syscall", "-output=" + path}, parts...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("put the profiles together: %w\n%s", err, out)
	}
	return nil
}

// gather profiles what edgeproxy does by a policy, and returns the files of the profiles.
func (s *scene) gather(ctx context.Context, policy string) (files []string, err error) {
	at, err := process.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	admin, secure := at[0], at[1]
	certificate, _, err := selfSigned(s.dir)
	if err != nil {
		return nil, err
	}
	e := secureEdge(policy, secure, certificate)
	e.admin = fmt.Sprintf("address: %q, pprof: true", admin)
	e.sections += "admission: {policy: " + policy + "}"
	p, err := s.start(ctx, e)
	if err != nil {
		return nil, err
	}
	works := []preparation{{"stored", func(context.Context) (work, error) { return s.misses([]server{serverOf(p, storedMark)}, freshSize) }}}
	if policy == "second-hit" {
		hits := func(size int) func(context.Context) (work, error) {
			return func(ctx context.Context) (work, error) { return s.hits(ctx, size, []server{serverOf(p, hitMark)}) }
		}
		works = []preparation{
			{"1k", hits(1 << 10)},
			{"16k", hits(16 << 10)},
			{"miss", func(context.Context) (work, error) { return s.misses([]server{serverOf(p, missMark)}, freshSize) }},
			{"h2", func(context.Context) (work, error) { return overHTTP2(p, secure) }},
		}
	}
	for _, one := range works {
		file := filepath.Join(s.dir, one.name)
		w, err := one.prepare(ctx)
		if err == nil {
			err = profileOne(ctx, admin, file, w.contenders[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// profileOne has c work, and writes the profile of that time to path.
func profileOne(ctx context.Context, admin, path string, c contender) error {
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
			return err
		default:
		}
	}
}

// saveProfile writes what edgeproxy says of the CPU time of the next profileTime.
func saveProfile(ctx context.Context, admin, path string) error {
	_, profile, err := fetch(ctx, http.DefaultClient, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, profileTime/time.Second))
	if err != nil {
		return fmt.Errorf("ask for a profile: %w", err)
	}
	return os.WriteFile(path, profile, 0o600)
}

func overHTTP2(p *process.Process, secure string) (work, error) {
	program, err := exec.LookPath("h2load")
	if err != nil {
		return work{}, fmt.Errorf("h2load is needed: %w", err)
	}
	return work{contenders: []contender{{name: p.Name, pid: p.PID(), ask: func(ctx context.Context, _ time.Duration) (int64, error) {
		return h2load(ctx, program, secure)
	}}}}, nil
}
