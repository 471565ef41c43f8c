package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestADiskWhoseFilesAreNotLentForgotItsLongBodies: on a file system without writes past the page cache, a long body is read and copied. It could
// not be sent by sendfile, and counted as one that cannot be read.
func TestADiskWhoseFilesAreNotLentForgotItsLongBodies(t *testing.T) {
	folder, err := os.MkdirTemp("/dev/shm", "edgeproxy-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := serveBinary(t, "-c", diskFile(t, newDigestOrigin(t).url, folder, "max_bytes: 64MiB"))
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience} // kept connections: those are what is sent to by sendfile
	defer client.CloseIdleConnections()
	for _, path := range kinds {
		for _, want := range []string{"edgeproxy; fwd=uri-miss; stored", "edgeproxy; hit", "edgeproxy; hit"} {
			res, err := client.Get("http://" + s.address + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil {
				_, err = digestIn(path, body)
			}
			if got := res.Header.Get("Cache-Status"); err != nil || !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %q and %v, want %q", path, got, err, want)
			}
		}
	}
}
