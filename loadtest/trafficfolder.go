package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// The names of Traffic Server's files in its folder.
const (
	trafficRoot = "runroot.yaml"
	trafficLog  = "log/access.log"
)

// trafficConfig is what differs between Traffic Server runs.
type trafficConfig struct {
	listen, origin string // host:port
	plugins        string // a folder
	maxBytes       int64
	maxObjectBytes int64
	memory         string // a folder in memory for the cache; "" = none
}

// cache_promote stores at this many requests, and remembers this many URLs, which is
// its default.
const (
	promoteHits    = 2
	promoteBuckets = 1000
)

// records are the settings that differ from Traffic Server's defaults: one thread, as
// nginx has one worker; no RAM cache, because the cache is in memory already.
const records = `CONFIG proxy.config.http.server_ports STRING %s:ip-in=%s
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT 1
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.diags.logfile.filename STRING stderr
CONFIG proxy.config.http.wait_for_cache INT 1
CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 3600
CONFIG proxy.config.http.insert_response_via_str INT 0
CONFIG proxy.config.cache.ram_cache.size INT 0
CONFIG proxy.config.cache.max_doc_size INT %d
CONFIG proxy.config.log.logging_enabled INT 3
CONFIG proxy.config.log.max_secs_per_buffer INT 1
CONFIG proxy.config.log.periodic_tasks_interval INT 1
CONFIG proxy.config.log.rolling_enabled INT 0
`

const trafficLogging = `logging:
  formats:
  - name: replay
    format: '%<crc> %<pssc> %<pscl> %<cwr> %<sssc> %<sscl>'
  logs:
  - filename: access
    format: replay
    mode: ascii
`

// prepareTrafficServer creates the folders of one Traffic Server, home below files, and
// writes the configuration. After an error it leaves nothing behind.
func prepareTrafficServer(files string, c trafficConfig) (folders, error) {
	f, err := makeFolders("trafficserver", files, c.memory, "etc", "log", "run")
	if err == nil {
		err = f.write(c.files(f))
	}
	if err != nil {
		err = errors.Join(err, f.Close())
	}
	return f, err
}

// files returns the configuration files: names and their contents.
func (c *trafficConfig) files(f folders) map[string]string {
	host, port, _ := net.SplitHostPort(c.listen)
	return map[string]string{
		trafficRoot: strings.Join([]string{
			"prefix: " + f.home, "exec_prefix: " + f.home, "bindir: " + f.home, "sbindir: " + f.home,
			"sysconfdir: " + f.path("etc"), "datadir: " + f.home, "includedir: " + f.home, "libdir: " + c.plugins,
			"libexecdir: " + c.plugins, "localstatedir: " + f.path("run"), "runtimedir: " + f.path("run"),
			"logdir: " + f.path("log"), "cachedir: " + f.cache, "",
		}, "\n"),
		"etc/records.config": fmt.Sprintf(records, port, host, c.maxObjectBytes),
		"etc/logging.yaml":   trafficLogging,
		"etc/storage.config": fmt.Sprintf("%s %d\n", f.cache, c.maxBytes),
		"etc/remap.config": fmt.Sprintf("map / http://%s/ @plugin=cache_promote.so @pparam=--policy=lru @pparam=--hits=%d @pparam=--buckets=%d\n",
			c.origin, promoteHits, promoteBuckets),
		"etc/plugin.config":  "",
		"etc/ip_allow.yaml":  "ip_allow:\n- apply: in\n  ip_addrs: 127.0.0.1\n  action: allow\n  methods: ALL\n",
		"etc/cache.config":   "",
		"etc/hosting.config": "",
	}
}
