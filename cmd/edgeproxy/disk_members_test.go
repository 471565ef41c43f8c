package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// severalDisks writes a configuration with a disk tier in folders, in their order.
func severalDisks(t *testing.T, origin string, folders ...string) string {
	t.Helper()
	return writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\nadmission: {policy: always}\n"+
			"cache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}, disk: {path: [\"%s\"], min_free: 0, max_bytes: 64MiB}}\n", origin, strings.Join(folders, `", "`)))
}

// with starts a proxy, does something, and ends the proxy in order. It returns what that has said.
func with(t *testing.T, file string, do func(s *server)) string {
	t.Helper()
	s := serveBinary(t, "-c", file)
	eventually(t, "the index is full", func() bool {
		for _, d := range s.diskStatus().Directories {
			if d.Unfilled > 0 {
				return false
			}
		}
		return true
	})
	do(s)
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	return fmt.Sprint(s.lines())
}

// What a directory has is there when it becomes one of several, in any order, and purges are where they were. A directory that was used elsewhere meanwhile is
// emptied, which check and the log say. Both were refused, or forgot everything.
func TestDirectoriesOfTheDiskTierComeAndGo(t *testing.T) {
	t.Parallel()
	origin, dir := newDigestOrigin(t), t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	paths := []string{"/1/2000", "/2/2000", "/3/40000", "/4/40000", "/5/2000", "/6/100000"}
	all := func(want string, s *server) {
		t.Helper()
		for _, path := range paths {
			s.wantCached(path, want)
		}
	}
	with(t, severalDisks(t, origin.url, a), func(s *server) {
		all("fwd=uri-miss; stored", s)
		s.wantCached("/gone/2000", "fwd=uri-miss; stored")
		if got := runBinary(t, "purge", "--admin", s.admin, "--prefix", "http://"+diskHost+"/gone"); got.code != exitDone {
			t.Errorf("purge: %+v", got)
		}
	})
	both := severalDisks(t, origin.url, b, a)
	if got := runBinary(t, "check", "-c", both); got.code != exitDone || strings.Contains(got.stderr, "dropped") {
		t.Errorf("check: %+v", got)
	}
	with(t, both, func(s *server) {
		all("hit", s)
		s.wantCached("/gone/2000", "fwd=uri-miss; stored")
		s.wantCached("/7/2000", "fwd=uri-miss; stored")
		for i := range 20 { // some of them go to each
			s.wantCached(fmt.Sprintf("/more/%d/2000", i), "fwd=uri-miss; stored")
		}
	})
	with(t, severalDisks(t, origin.url, a, b), func(s *server) { all("hit", s); s.wantCached("/7/2000", "hit") })

	with(t, severalDisks(t, origin.url, a), func(s *server) { s.wantCached("/8/2000", "fwd=uri-miss; stored") }) // b is out, and used elsewhere
	said := with(t, severalDisks(t, origin.url, b), func(s *server) { all("fwd=uri-miss; stored", s) })
	if !strings.Contains(said, "but no purge records") {
		t.Errorf("b alone: got %q, want it to say why nothing that it has is used", said)
	}
	if got := runBinary(t, "check", "-c", both); got.code != exitDone || !strings.Contains(got.stderr, "what is stored there is dropped at the next start") {
		t.Errorf("check: got %+v, want a warning", got)
	}
	// Both have changed as often since, so the first is the home.
	said = with(t, severalDisks(t, origin.url, a, b), func(s *server) { s.wantCached("/8/2000", "hit") })
	if !strings.Contains(said, "were dropped: it was not in use at the last start") || strings.Count(said, "were dropped") != 1 {
		t.Errorf("got %q, want it to say that b is emptied", said)
	}
	if said := with(t, both, func(s *server) { s.wantCached("/8/2000", "hit") }); strings.Contains(said, "were dropped") {
		t.Errorf("got %q, want nothing dropped again", said)
	}
}
