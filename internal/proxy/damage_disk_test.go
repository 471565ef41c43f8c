package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/test/edgetest"
)

// TestADamagedDiskGivesNoWrongByte: what is small is fetched anew, what is long breaks off or is fetched anew, and nothing
// else reaches a client.
func TestADamagedDiskGivesNoWrongByte(t *testing.T) {
	lengths := []int{0, 1, 1000, 5000, 20_000, 40_000, 60_000, 100_000, 200_000, 250_000}
	bodyOf := func(path string) string {
		var n int
		_, _ = fmt.Sscanf(path, "/%d", &n)
		return strings.Repeat(fmt.Sprintf("%08x", n), lengths[n%len(lengths)]/8+1)[:lengths[n%len(lengths)]]
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, bodyOf(q.URL.Path))
	}))
	t.Cleanup(server.Close)
	path := t.TempDir()
	e := start(t, fmt.Sprintf(`%scache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}, disk: {path: %q, max_bytes: 16MiB, min_free: 0%%}}
`, always, path), edgetest.Options{Origin: server.Listener.Addr().String()})
	ask := func(target string) (body, status string, err error) {
		res, err := http.Get("http://" + e.Address + target)
		if err != nil {
			return "", "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return string(b), res.Header.Get("Cache-Status"), err
	}
	const objects = 40
	for n := range objects {
		if body, _, err := ask(fmt.Sprintf("/%d", n)); err != nil || body != bodyOf(fmt.Sprintf("/%d", n)) {
			t.Fatalf("%d: %d bytes, %v", n, len(body), err)
		}
	}
	if err := e.Disk().Flush(); err != nil {
		t.Fatal(err)
	}
	hits, misses, broken := 0, 0, 0
	eventually(t, "no segment is rewritten", func() bool { return e.Disk().Stats().WaitingBytes == 0 })
	harm(t, path)
	for n := range objects {
		target := fmt.Sprintf("/%d", n)
		body, status, err := ask(target)
		want := bodyOf(target)
		switch {
		case !strings.HasPrefix(want, body):
			t.Errorf("%s: got a wrong byte, %s", target, status)
		case err != nil:
			broken++
		case body != want:
			t.Errorf("%s: got %d bytes of %d and no error", target, len(body), len(want))
		case strings.Contains(status, "; hit"):
			hits++
		default:
			misses++
		}
	}
	t.Logf("%d hits, %d misses, %d broken", hits, misses, broken)
	if hits == objects || misses+broken == 0 {
		t.Error("nothing was damaged: this proves nothing")
	}
	if st := e.Disk().Stats(); st.Damaged == 0 {
		t.Errorf("got %+v, want damage to be counted", st)
	}
}

// harm flips a bit in every 40,000th byte of what the disk has.
func harm(t *testing.T, path string) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it was given up meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		for at := int64(disk.MinBytes / 1024); at < info.Size(); at += 40_000 {
			var one [1]byte
			if _, err := f.ReadAt(one[:], at); err != nil {
				return err
			}
			one[0] ^= 4
			if _, err := f.WriteAt(one[:], at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
