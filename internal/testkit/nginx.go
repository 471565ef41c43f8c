package testkit

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// FreeAddress returns an address of the loopback that was free a moment ago.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	return freeAddress(tb, "127.0.0.1")
}

// quietHost is of the loopback; no client's end of a connection is there.
const quietHost = "127.0.0.9"

// QuietAddress is FreeAddress where nothing but a listener can take the address meanwhile.
func QuietAddress(tb testing.TB) string {
	tb.Helper()
	return freeAddress(tb, quietHost)
}

func freeAddress(tb testing.TB, host string) string {
	tb.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Nginx returns the nginx that is installed, as Program does.
func Nginx(tb testing.TB) (program string) {
	tb.Helper()
	return Program(tb, "nginx", "/usr/sbin/nginx")
}

// StartNginx runs nginx with this configuration, by which it listens at address, until the
// end of the test. What it writes goes to dir.
func StartNginx(tb testing.TB, program, dir, config, address string) {
	tb.Helper()
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(program, "-c", file, "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	Eventually(tb, "nginx listens", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}
