package main

import (
	"bytes"
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/admission/policy"
)

// The demo wrote a warning of its own settings between its lines where the process may have 1,024 descriptors, as in many shells.
func TestTheDemoWarnedWhereDescriptorsAreFew(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = min(few.Cur, 1024)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) })
	for _, policy := range []policy.Policy{policy.SecondHit, policy.Always} {
		var log bytes.Buffer
		e, _, err := startDemoEdge("127.0.0.1:9", t.TempDir(), policy, freeAddresses(), newLog(demoLog, &log))
		if err != nil {
			t.Fatal(err)
		}
		e.Stop(context.Background())
		if log.Len() > 0 {
			t.Errorf("%s: got %q, want nothing", policy, log.String())
		}
	}
}
