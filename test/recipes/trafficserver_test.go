package recipes

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// trafficFiles is what the document has of Traffic Server's files.
type trafficFiles struct{ remap, cache, records string }

// modules are where distributions put Traffic Server's plugins.
func modules() []string {
	return []string{"/usr/lib/trafficserver/modules", "/usr/libexec/trafficserver", "/usr/local/libexec/trafficserver"}
}

// startTrafficServer runs one until the end of the test, in a folder of its own.
func startTrafficServer(t *testing.T, address string, files trafficFiles) {
	t.Helper()
	program := testkit.Program(t, "traffic_server")
	var plugins string
	for _, folder := range modules() {
		if _, err := os.Stat(filepath.Join(folder, "cache_promote.so")); err == nil {
			plugins = folder
		}
	}
	if plugins == "" {
		t.Fatal("Traffic Server's plugin cache_promote is not there")
	}
	dir := t.TempDir()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	root := ""
	for _, line := range [][2]string{
		{"prefix", dir},
		{"exec_prefix", dir},
		{"bindir", dir},
		{"sbindir", dir},
		{"sysconfdir", dir + "/etc"},
		{"datadir", dir},
		{"includedir", dir},
		{"libdir", plugins},
		{"libexecdir", plugins},
		{"localstatedir", dir + "/run"},
		{"runtimedir", dir + "/run"},
		{"logdir", dir + "/log"},
		{"cachedir", dir + "/cache"},
	} {
		root += line[0] + ": " + line[1] + "\n"
	}
	for name, text := range map[string]string{
		"runroot.yaml": root,
		"etc/records.config": fmt.Sprintf("CONFIG proxy.config.http.server_ports STRING %s:ip-in=%s\n", port, host) +
			"CONFIG proxy.config.admin.user_id STRING #-1\nCONFIG proxy.config.crash_log_helper STRING NULL\n" +
			"CONFIG proxy.config.diags.logfile.filename STRING stderr\nCONFIG proxy.config.http.wait_for_cache INT 1\n" +
			"CONFIG proxy.config.log.logging_enabled INT 0\nCONFIG proxy.config.raw_stat_sync_interval_ms INT 100\n" + files.records,
		"etc/storage.config": dir + "/cache 134217728\n",
		"etc/remap.config":   files.remap,
		"etc/cache.config":   files.cache,
		"etc/plugin.config":  "stats_over_http.so\n",
		"etc/ip_allow.yaml":  "ip_allow:\n- apply: in\n  ip_addrs: 127.0.0.0/8\n  action: allow\n  methods: ALL\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"log", "run", "cache"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	start(t, address, program, "--run-root="+filepath.Join(dir, "runroot.yaml"))
}
