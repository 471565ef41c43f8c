package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheAccessLogReachesASyslogServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := "syslog:server=tcp://" + l.Addr().String() + ",tag=site,facility=local0"
	file := writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
access_log: {path: %q, format: template, template: "{target} {status}"}
`, cachedOrigin(t), path))
	s := serveBinary(t, "-c", file)
	get(t, "http://"+s.address+"/cached")
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	message := func() string {
		t.Helper()
		var n int
		if _, err := fmt.Fscanf(in, "%d ", &n); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n)
		for i := range b {
			if b[i], err = in.ReadByte(); err != nil {
				t.Fatal(err)
			}
		}
		return string(b)
	}
	if got := message(); !strings.HasPrefix(got, "<134>1 2") || !strings.HasSuffix(got, " access - /cached 200") || !strings.Contains(got, " site ") {
		t.Errorf("got %q", got)
	}
	if got := runBinary(t, "status", "--json", "--admin", s.admin); !strings.Contains(got.stdout, `"path": "`+path+`"`) {
		t.Errorf("status: got %s, want the path %s", got.stdout, path)
	}
	if got := runBinary(t, "log", "--once", "--admin", s.admin); got.code != exitFailed || !strings.Contains(got.stderr, "goes to "+path+": name the FILE") {
		t.Errorf("log: got %d %q", got.code, got.stderr)
	}
	if got := runBinary(t, "check", "-c", file); got.code != exitDone {
		t.Errorf("check: got %d %q", got.code, got.stderr)
	}
	get(t, "http://"+s.address+"/cached")
	s.signal(syscall.SIGTERM) // what is queued is sent before the end
	s.wantExit(exitDone)
	if got := message(); !strings.HasSuffix(got, " access - /cached 200") {
		t.Errorf("before the end: got %q", got)
	}
}
