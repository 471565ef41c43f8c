package testkit

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

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
