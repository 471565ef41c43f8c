package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestDefaultsSurviveASmallCgroup: with the defaults the cache alone may take 256 MiB, so a
// container of 256 MiB was killed as soon as its cache was full. It is asked for 2 GiB of
// distinct objects, each twice, first by HEAD, so that all are stored.
func TestDefaultsSurviveASmallCgroup(t *testing.T) {
	testkit.Slow(t, "it loads the program")
	testkit.Plain(t, "it loads the built program")
	t.Parallel()
	const (
		limit   = 256 << 20
		object  = 256 << 10
		objects = 2 << 30 / object
		workers = 4
	)
	body := make([]byte, object)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Length", strconv.Itoa(object))
		_, _ = w.Write(body)
	}))
	t.Cleanup(origin.Close)
	s := serveCmd(t, inCgroup(t, limit, "serve", "--origin", origin.URL, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"))
	if got := s.gauge(`edgeproxy_cache_max_bytes{tier="memory"}`) + s.gauge(`edgeproxy_cache_max_bytes{tier="stage"}`); got != 102<<20 {
		t.Errorf("the cache: got %v bytes, want 102 MiB, 40 %% of the limit", got)
	}
	if got, want := s.gauge("go_gc_gomemlimit_bytes"), float64(limit/10*9); got != want {
		t.Errorf("GOMEMLIMIT: got %v, want %v, 90 %% of the limit", got, want)
	}
	var next atomic.Int64
	var broken atomic.Bool
	var asking sync.WaitGroup
	for range workers {
		asking.Go(func() {
			transport := &http.Transport{MaxIdleConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			client, got := &http.Client{Transport: transport}, make([]byte, object)
			for !broken.Load() {
				i := next.Add(1) - 1
				if i >= objects {
					return
				}
				if err := askTwice(client, fmt.Sprintf("http://%s/%d", s.address, i), body, got); err != nil {
					t.Errorf("object %d: %v", i, err)
					broken.Store(true)
					return
				}
			}
		})
	}
	asking.Wait()
	if got := s.gauge(`edgeproxy_cache_write_bytes_total{tier="memory"}`); got < 2<<30 {
		t.Errorf("written: got %.0f bytes, want at least 2 GiB", got)
	}
	if got := s.gauge("process_resident_memory_bytes"); got == 0 || got > limit {
		t.Errorf("resident: got %.0f bytes, want at most %d", got, limit)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(0)
}

// askTwice asks for a URL by HEAD, which is a sighting like any other, and then for all of it. It compares the body, which it
// reads into got.
func askTwice(client *http.Client, url string, want, got []byte) error {
	res, err := client.Head(url)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	res, err = client.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || res.ContentLength != int64(len(want)) {
		return fmt.Errorf("status %d with %d bytes", res.StatusCode, res.ContentLength)
	}
	if _, err := io.ReadFull(res.Body, got); err != nil {
		return err
	}
	if n, err := res.Body.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) { // which leaves the connection to the next request
		return fmt.Errorf("behind the body: %d bytes, %w", n, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: not the bytes of the origin", url)
	}
	return nil
}

// inCgroup returns a command that runs the program in a new cgroup with so many bytes of
// memory, which is removed at the end of the test. Where the test may make none, the program
// is told by its file and its environment what it would have found there, and nobody kills it.
func inCgroup(t *testing.T, limit int, args ...string) *exec.Cmd {
	t.Helper()
	dir, file, err := newCgroup(t)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(limit)), 0)
	}
	if err == nil {
		script := `echo $$ > "$0/cgroup.procs" && exec "$@"`
		return exec.Command("sh", append([]string{"-c", script, dir, program(t)}, args...)...)
	}
	t.Logf("no cgroup: %v", err)
	path := filepath.Join(t.TempDir(), "edgeproxy.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, "cache: {memory: {max_bytes: %dMiB}}\n", limit*2/5>>20), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t), append(args, "-c", path)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", limit/10*9))
	return cmd
}

// newCgroup makes a cgroup with a controller of memory, and names the file for its limit.
func newCgroup(t *testing.T) (dir, file string, err error) {
	t.Helper()
	const root = "/sys/fs/cgroup"
	parent, file := filepath.Join(root, "memory"), "memory.limit_in_bytes"
	if controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil {
		if !strings.Contains(string(controllers), "memory") {
			return "", "", fmt.Errorf("%s has no controller of memory", root)
		}
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0) // it may be there
		parent, file = root, "memory.max"
	}
	dir, err = os.MkdirTemp(parent, "edgeproxy-test-")
	if err == nil {
		t.Cleanup(func() { eventually(t, "the cgroup can be removed", func() bool { return os.Remove(dir) == nil }) })
	}
	return dir, file, err
}
