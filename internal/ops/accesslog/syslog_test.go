package accesslog

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of this name was made, and nothing was sent.
func TestTheWordSyslogMadeAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := "syslog:server=" + c.LocalAddr().String() + ",facility=local0,tag=site"
	l, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Write(numbered(7))
	b := make([]byte, 1<<16)
	n, _, err := c.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	head, line, _ := strings.Cut(string(b[:n]), " - ")
	if !strings.HasPrefix(head, "<134>1 ") || !strings.Contains(head, " site ") || !strings.HasSuffix(head, " access") || !json.Valid([]byte(line)) {
		t.Errorf("got %q, want a message of RFC 5424 with a line of JSON", b[:n])
	}
	if err := l.Reopen(); err != nil {
		t.Errorf("Reopen: %v", err)
	}
	mustClose(t, l)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v in the folder, want nothing", left, err)
	}
}

func TestAServerThatIsAwayHoldsUpNoRequest(t *testing.T) {
	l, err := Open("syslog:server=unix:"+filepath.Join(t.TempDir(), "none"), Options{QueueBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	const written = 1000
	for n := range written {
		l.Write(numbered(n))
	}
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if got := l.Dropped(); got != written {
		t.Errorf("got %d lines dropped, want all of %d", got, written)
	}
	if l.WriteErrors() == 0 {
		t.Error("got no failed write")
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "-": "", "/var/log/a": "", "syslog": "", "a/syslog:x": "", "syslog:server=a": "",
		"syslog:": "must be syslog:server=ADDRESS", "syslog:server=a,x": `parameter "x"`,
	} {
		err := ValidPath(path)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", path, err, want)
		}
		if Remote(path) != strings.HasPrefix(path, "syslog:") {
			t.Errorf("%q: got remote %v", path, Remote(path))
		}
		if want == "" {
			continue
		}
		if l, err := Open(path, Options{}); err == nil || errors.Is(err, os.ErrNotExist) {
			t.Errorf("Open %q: got %v, %v, want an error", path, l, err)
		}
	}
}
