package testkit

import (
	"fmt"
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

// nginxConfig has the folder and what stands in its http section.
const nginxConfig = `daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
%[2]s}
`

// ServeByNginx runs nginx as one process with this http section, by which it listens at address, until the end of the
// test. What it writes goes to dir.
func ServeByNginx(tb testing.TB, program, dir, http, address string) {
	tb.Helper()
	StartNginx(tb, program, dir, fmt.Sprintf(nginxConfig, dir, http), address)
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
