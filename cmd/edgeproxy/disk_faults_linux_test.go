package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/test/testkit"
)

// served asks for n objects of 900,000 bytes each, from number first on, and wants each of them whole.
func (s *server) served(first, n int) {
	s.t.Helper()
	for i := range n {
		s.wantCached(fmt.Sprintf("/%d/900000", first+i), "")
	}
}

// wantReady waits until /readyz says that the proxy is ready, with this trouble, "" for none.
func (s *server) wantReady(trouble string) {
	s.t.Helper()
	eventually(s.t, "/readyz says ready; "+trouble, func() bool {
		res, text := get(s.t, "http://"+s.admin+"/readyz")
		return res.StatusCode == 200 && (trouble == "" && text == "ready" || trouble != "" && strings.HasPrefix(text, "ready; ") && strings.Contains(text, trouble))
	})
}

// The file system is smaller than max_bytes says.
func TestADiskThatIsFullKeepsServing(t *testing.T) {
	t.Parallel()
	origin, small := newDigestOrigin(t), testkit.SmallDisk(t, 64<<20)
	s := serveBinary(t, "-c", diskFile(t, origin.url, filepath.Join(small, "cache"), "max_bytes: 1GiB"))
	s.served(0, 120) // 108 MB
	eventually(t, "there are objects, in at most 64 MiB", func() bool {
		d := s.diskStatus().Directories[0] // counts what is still to be written, which may not fit
		return d.Bytes <= 64<<20 && d.Objects > 0
	})
	var fs unix.Statfs_t
	if err := unix.Statfs(small, &fs); err != nil {
		t.Fatal(err)
	}
	used := int64(fs.Blocks-fs.Bfree) * fs.Bsize
	if used < 32<<20 {
		t.Errorf("only %d bytes of 64 MiB are in use: it was never full", used)
	}
	s.wantReady("")
	fetched := origin.number.Load()
	s.served(110, 10)
	if hits := fetched + 10 - origin.number.Load(); hits < 5 {
		t.Errorf("got %d hits of the 10 that came last, want more", hits)
	}
	if got := runBinary(t, "purge", "--admin", s.admin, "--all"); got.code != exitDone && !strings.Contains(got.stderr, "purged, but") {
		t.Errorf("purge: %+v", got)
	}
	s.wantCached("/119/900000", "fwd=uri-miss")
}

func TestADirectoryThatIsRemovedCostsItsHits(t *testing.T) {
	t.Parallel()
	origin, folder := newDigestOrigin(t), filepath.Join(t.TempDir(), "cache")
	s := serveBinary(t, "-c", diskFile(t, origin.url, folder, "max_bytes: 64MiB"))
	s.served(0, 5)
	eventually(t, "the directory is removed", func() bool { return os.RemoveAll(folder) == nil }) // the proxy makes files meanwhile
	s.wantReady("the disk tier is out of use")
	s.served(0, 5)
	s.wantCached("/small/300", "fwd=uri-miss; stored") // in memory
	s.wantCached("/small/300", "hit")
	_, text := get(t, "http://"+s.admin+"/metrics")
	for _, line := range []string{`edgeproxy_disk_directories{state="failed"} 1`, `edgeproxy_disk_failures_total 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if d := s.diskStatus(); d.Trouble == "" || d.Directories[0].Trouble == "" {
		t.Errorf("/cache/stats has no trouble: %+v", d)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("the directory is there again: somebody may have taken it away to put another in its place")
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}

// Without a place for purges nothing of the disk may be served: a purge would be undone by the next start.
func TestADirectoryThatCanOnlyBeReadIsLeftOut(t *testing.T) {
	t.Parallel()
	origin, folder := newDigestOrigin(t), filepath.Join(t.TempDir(), "cache")
	s := serveBinary(t, "-c", diskFile(t, origin.url, folder, "max_bytes: 64MiB"))
	s.served(0, 3)
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)

	bound := testkit.ReadOnlyBind(t, folder)
	file := diskFile(t, origin.url, bound, "max_bytes: 64MiB")
	if got := runBinary(t, "check", "-c", file); got.code != exitDone {
		t.Errorf("check: %+v", got)
	}
	s = serveBinary(t, "-c", file)
	s.wantReady("the disk tier is out of use")
	s.wantCached("/0/900000", "fwd=uri-miss; stored")
	s.wantCached("/0/900000", "hit")
	if _, text := get(t, "http://"+s.admin+"/status"); !strings.Contains(text, `"trouble": "the disk tier is out of use: see the log"`) {
		t.Errorf("/status has no trouble: %s", text)
	}
}
