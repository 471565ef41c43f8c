package main

import (
	"fmt"
	"slices"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestServeWarnsOfAnOriginThatIsTheEdge(t *testing.T) {
	t.Parallel()
	address := testkit.QuietAddress(t)
	s := serveBinary(t, "--origin", "http://"+address, "--listen", address, "--admin", "127.0.0.1:0")
	if res, _ := get(t, "http://"+address+"/a"); res.StatusCode != 508 {
		t.Errorf("got %d, want 508", res.StatusCode)
	}
	eventually(t, "the log has the warning", func() bool {
		const want = "origins.app.servers[0]: http://%s: this is edgeproxy itself (listen[0]): requests loop back, and are answered with 508"
		return slices.ContainsFunc(s.lines(), func(l logLine) bool { return l.Warning == fmt.Sprintf(want, address) })
	})
}
