package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"edgeproxy/internal/lab/process"
)

// grace is what the suite may take beyond its own limit to hand over its answers.
const grace = 30 * time.Second

// suite is an installed copy of http-cache-tests, driven through suite.mjs.
type suite struct {
	dir    string // absolute
	driver string // suite.mjs
	stderr io.Writer
	catalogue
}

// openSuite reads the catalogue of the copy in dir.
func openSuite(ctx context.Context, root, dir string, stderr io.Writer) (*suite, error) {
	s := &suite{driver: filepath.Join(root, "test", "conformance", "suite.mjs"), stderr: stderr}
	var err error
	if s.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find the suite: %w", err)
	}
	if err := s.ask(ctx, "catalogue", request{Suite: s.dir}, &s.catalogue); err != nil {
		return nil, fmt.Errorf("read the suite in %s: %w", dir, err)
	}
	return s, nil
}

// request is what suite.mjs wants to know.
type request struct {
	Suite    string   `json:"suite"`
	Base     string   `json:"base,omitempty"` // URL of the proxy
	IDs      []string `json:"ids,omitempty"`
	Parallel int      `json:"parallel,omitempty"` // tests at a time
	Warm     int      `json:"warm"`               // requests for each URL, or variant, before its test
	Seconds  int      `json:"seconds,omitempty"`  // for everything
	Trace    []string `json:"trace,omitempty"`    // ids whose requests and responses are shown
}

// ask runs a command of suite.mjs to its end and reads its answer.
func (s *suite) ask(ctx context.Context, command string, q request, answer any) error {
	arg, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("ask the suite: %w", err)
	}
	cmd := exec.CommandContext(ctx, "node", "--no-warnings", s.driver, command, string(arg))
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if q.Trace != nil {
		cmd.Stderr = s.stderr
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("node suite.mjs %s: %w\n%s", command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(stdout.Bytes(), answer); err != nil {
		return fmt.Errorf("node suite.mjs %s: %w", command, err)
	}
	return nil
}

// run plays the tests that q names and returns what the suite says of them. A run that is
// not done within its time is an error.
func (s *suite) run(ctx context.Context, q request) (map[string]answer, error) {
	limit := time.Duration(q.Seconds) * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit+grace)
	defer cancel()
	var played struct {
		Finished bool              `json:"finished"`
		Answers  map[string]answer `json:"answers"`
	}
	q.Suite = s.dir
	if err := s.ask(ctx, "run", q, &played); err != nil {
		return nil, err
	}
	if !played.Finished {
		return nil, fmt.Errorf("%d of %d tests were done within %v", len(played.Answers), len(q.IDs), limit)
	}
	return played.Answers, nil
}

// startOrigin starts the suite's origin.
func (s *suite) startOrigin(ctx context.Context, log string) (*logged, error) {
	arg, err := json.Marshal(request{Suite: s.dir})
	if err != nil {
		return nil, fmt.Errorf("start the suite's origin: %w", err)
	}
	return start(ctx, log, process.Command{
		Name: "the suite's origin", Path: "node", Args: []string{"--no-warnings", s.driver, "origin", string(arg)}, Finds: originAddress,
	})
}

// originAddress finds the address in a line of the origin's output.
func originAddress(line string) string {
	address, ok := strings.CutPrefix(line, "listening on ")
	if !ok {
		return ""
	}
	return address
}
