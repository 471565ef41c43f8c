package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// trafficRecords are the settings of Traffic Server that are not its own: one thread, as nginx has one worker, and no copies in memory.
const trafficRecords = `CONFIG proxy.config.http.server_ports STRING %s:ip-in=%s
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT 1
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.diags.logfile.filename STRING stderr
CONFIG proxy.config.http.wait_for_cache INT 1
CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 3600
CONFIG proxy.config.http.insert_response_via_str INT 0
CONFIG proxy.config.cache.ram_cache.size INT 0
CONFIG proxy.config.log.logging_enabled INT 0
`

// trafficCache is the size of its file.
const trafficCache = 256 << 20

// startTrafficServer starts Traffic Server with its cache in a file.
func (f *field) startTrafficServer(program string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("a free address: %w", err)
	}
	dir := filepath.Join(f.dir, "trafficserver")
	etc := filepath.Join(dir, "etc")
	modules := filepath.Join(filepath.Dir(filepath.Dir(program)), "lib/trafficserver/modules") // where Debian's package has them
	for name, text := range map[string]string{
		"records.config": fmt.Sprintf(trafficRecords, port, host),
		"storage.config": fmt.Sprintf("%s %d\n", filepath.Join(dir, "cache"), trafficCache),
		"remap.config":   fmt.Sprintf("map / http://%s/\n", f.origin.address),
		"plugin.config":  "", "cache.config": "", "hosting.config": "",
		"ip_allow.yaml": "ip_allow:\n- apply: in\n  ip_addrs: 127.0.0.1\n  action: allow\n  methods: ALL\n",
	} {
		if _, err := writeFile(etc, name, text); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"log", "run", "cache"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("make a folder: %w", err)
		}
	}
	_, err = writeFile(dir, "runroot.yaml", strings.Join([]string{
		"prefix: " + dir, "exec_prefix: " + dir, "bindir: " + dir, "sbindir: " + dir, "sysconfdir: " + etc, "datadir: " + dir,
		"includedir: " + dir, "libdir: " + modules, "libexecdir: " + modules, "localstatedir: " + filepath.Join(dir, "run"),
		"runtimedir: " + filepath.Join(dir, "run"), "logdir: " + filepath.Join(dir, "log"), "cachedir: " + filepath.Join(dir, "cache"), "",
	}, "\n"))
	if err != nil {
		return nil, err
	}
	f.traffic, err = startAt("Traffic Server", address, program, "--run-root="+filepath.Join(dir, "runroot.yaml"))
	return f.traffic, err
}
