package main

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// A file system that can only be read takes the disk tier out of use, and check said nothing of it.
func TestCheckWarnsOfADiskThatIsLeftOut(t *testing.T) {
	t.Parallel()
	bound := testkit.ReadOnlyBind(t, t.TempDir())
	config := writeFile(t, "edge.yaml", fmt.Sprintf("origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\ncache: {disk: {path: %q}}\n", bound))
	want := "warning: " + config + ":2:22: cache.disk.path: " + bound + ": the disk tier cannot be used; the proxy runs without it"
	if got := runBinary(t, "check", "-c", config); got.code != exitDone || !strings.HasPrefix(got.stderr, want) {
		t.Errorf("got %d %q, want %q", got.code, got.stderr, want)
	}
}
