package edge

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/config"
)

// check passed addresses that a start then failed to open.
func TestCheckWarnsOfAddressesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	f := func(listen, admin string, want ...string) {
		t.Helper()
		c, err := config.Parse("e.yaml", fmt.Appendf(nil, "listen: [{address: %q}]\nadmin: {address: %q}\norigins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n", listen, admin))
		if err != nil {
			t.Fatal(err)
		}
		got := AddressWarnings(t.Context(), c)
		if len(got) != len(want) {
			t.Fatalf("%s, %s: got %v, want %q", listen, admin, got, want)
		}
		for i := range got {
			if !strings.Contains(got[i].String(), want[i]) {
				t.Errorf("%s, %s: got %q, want %q", listen, admin, got[i], want[i])
			}
		}
	}
	f("127.0.0.1:0", "unix:"+filepath.Join(folder, "admin.sock"))
	f(taken.Addr().String(), "127.0.0.1:0")                                                               // the proxy that runs has it, perhaps
	f("203.0.113.9:8080", "127.0.0.1:0", "listen[0].address: 203.0.113.9:8080: a start would fail now: ") // an address of TEST-NET-3 (RFC 5737)
	f("unix:"+filepath.Join(folder, "none", "t.sock"), "unix:"+plain, "no such file or directory", "admin.address: unix:"+plain+": a start would fail now: the file exists and is not a socket")
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v in the folder, want the file alone", left, err)
	}
}
