package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"edgeproxy/internal/lab/peers"
	"edgeproxy/internal/lab/process"
)

// scene has what a measurement starts: servers and clients before one origin, with their files in one folder.
type scene struct {
	o       options
	dir     string
	origin  *originServer
	closing []func() error
}

// withScene calls do with a scene, and ends all that has been started in it.
func (o options) withScene(do func(s *scene) error) (err error) {
	s := &scene{o: o}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.dir, err = os.MkdirTemp("", "edgeproxy-bench-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	s.later(func() error { return os.RemoveAll(s.dir) })
	if s.origin, err = startOrigin(); err != nil {
		return err
	}
	s.later(s.origin.Close)
	return do(s)
}

// later has end called at the end of the scene, before all that was given to it earlier.
func (s *scene) later(end func() error) { s.closing = append(s.closing, end) }

func (s *scene) close() error {
	var errs []error
	for i := range s.closing {
		errs = append(errs, s.closing[len(s.closing)-1-i]())
	}
	return errors.Join(errs...)
}

// edge is edgeproxy with its defaults, but for what stands here.
type edge struct {
	name     string // its file's
	program  string // "" is the one that is measured
	origin   string // host:port; "" is the scene's
	listen   string // more listeners, in YAML, behind a comma
	admin    string // the address and more of the admin's listener, in YAML; "" is any address
	sections string // more sections, in YAML
	run      process.Command
}

// anyAddress is the address of a listener, in YAML.
const anyAddress = `address: "127.0.0.1:0"`

// start starts an edgeproxy, which has one processor to run on.
func (s *scene) start(ctx context.Context, e edge) (*process.Process, error) {
	path, err := peers.WriteFile(s.dir, e.name+".yaml", fmt.Sprintf("listen: [{%s}%s]\nadmin: {%s}\norigins: {app: {servers: [\"http://%s\"]}}\n%s\n",
		anyAddress, e.listen, cmp.Or(e.admin, anyAddress), cmp.Or(e.origin, s.origin.address), e.sections))
	if err != nil {
		return nil, err
	}
	c := e.run
	c.Name, c.Path, c.Args, c.Finds = edgeName, cmp.Or(e.program, s.o.program), []string{"serve", "-c", path}, process.EdgeAddress
	return s.startSaying(ctx, c)
}

// startSelf starts this program once more, as one of the servers to compare with.
func (s *scene) startSelf(ctx context.Context, name string, args ...string) (*process.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	return s.startSaying(ctx, process.Command{Name: name, Path: self, Args: args, Finds: func(line string) string { return line }})
}

// startSaying starts a program that says its address.
func (s *scene) startSaying(ctx context.Context, c process.Command) (*process.Process, error) {
	c.Env = append(c.Env, "GOMAXPROCS=1")
	p, err := process.Start(c)
	if err != nil {
		return nil, err
	}
	s.later(p.Close)
	return p, p.AwaitAddress(ctx)
}

// await waits until a peer that has been started listens. Each peer has an exit code of its own for our signal.
func (s *scene) await(ctx context.Context, p *process.Process, err error, address string) (*process.Process, error) {
	if err != nil {
		return nil, err
	}
	s.later(func() error { _ = p.Close(); return nil })
	return p, p.AwaitListener(ctx, address)
}

// pin has the servers run on one processor until the end of the scene.
func (s *scene) pin(servers ...int) error {
	unpin, err := pinServers(servers)
	if err == nil {
		s.later(unpin)
	}
	return err
}

// noMemory is a memory that takes none of the pages that are asked for on a disk.
const noMemory = "max_object_bytes: 8KiB"

// onDisk is an edgeproxy that stores every response that it may, with a disk in a folder called name behind this memory.
func (s *scene) onDisk(name, memory string) edge {
	return edge{name: name, sections: fmt.Sprintf("admission: {policy: always}\ncache: {memory: {%s}, disk: {path: %q, max_bytes: 1GiB}}", memory, s.dir+"/"+name)}
}

// startFilled starts e with what fill has it store. What has just been stored may wait in memory to be written, so it is stored
// by a process before.
func (s *scene) startFilled(ctx context.Context, e edge, fill func(address string) error) (*process.Process, error) {
	p, err := s.start(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(fill(p.Address), p.Close()); err != nil {
		return nil, err
	}
	return s.start(ctx, e)
}

// startFullDisk starts e with all pages of the works on its disk.
func (s *scene) startFullDisk(ctx context.Context, e edge) (*process.Process, error) {
	return s.startFilled(ctx, e, func(address string) (err error) {
		for _, size := range diskSizes() {
			err = errors.Join(err, warm(ctx, address, pages(size), hitMark))
		}
		return err
	})
}
