package peers

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"edgeproxy/internal/lab/process"
)

// Nginx is an nginx.
type Nginx struct {
	Program string
	Dir     string // for its files; paths in its configuration are relative to it
	Main    string // directives beside the section http
	HTTP    string // directives of the section http
}

// nginxText has what all configurations have. One worker is enough for the rates of one machine.
const nginxText = `daemon off;
%s%s
pid nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
	client_body_temp_path temp/body;
	proxy_temp_path temp/proxy;
	fastcgi_temp_path temp/fastcgi;
	uwsgi_temp_path temp/uwsgi;
	scgi_temp_path temp/scgi;
	sendfile on;
	tcp_nodelay on;
	keepalive_requests 1000000000;
	keepalive_timeout 1h;
%s
}
`

// Text returns the configuration, for a user with this number.
func (n Nginx) Text(euid int) string {
	user := ""
	if euid == 0 {
		user = "user root;\n" // the workers' own user could not use the folder
	}
	return fmt.Sprintf(nginxText, user, n.Main, n.HTTP)
}

// Start runs it. SIGTERM lets the master end its workers where this program dies; a killed master could not.
func (n Nginx) Start() (*process.Process, error) {
	if err := os.MkdirAll(filepath.Join(n.Dir, "temp"), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if _, err := WriteFile(n.Dir, "nginx.conf", n.Text(os.Geteuid())); err != nil {
		return nil, err
	}
	return process.Start(process.Command{
		Name: "nginx", Path: n.Program, Args: []string{"-p", n.Dir, "-c", "nginx.conf", "-e", "stderr"}, Stop: syscall.SIGQUIT, Death: syscall.SIGTERM,
	})
}

// HAProxy is an HAProxy.
type HAProxy struct{ Program, Dir, Config string }

// Start runs it.
func (h HAProxy) Start() (*process.Process, error) {
	path, err := WriteFile(h.Dir, "haproxy.cfg", h.Config)
	if err != nil {
		return nil, err
	}
	return process.Start(process.Command{Name: "HAProxy", Path: h.Program, Args: []string{"-db", "-f", path}})
}

// Varnish is a Varnish before one origin.
type Varnish struct {
	Program, Dir   string
	Listen, Origin string // host:port
	Storage        string // what -s takes, such as malloc,512m
}

// Start runs it. Varnish reads its files as a user of its own, so the folder and the one above are made open to all.
func (v Varnish) Start() (*process.Process, error) {
	host, port, err := net.SplitHostPort(v.Origin)
	if err != nil {
		return nil, fmt.Errorf("the origin's address: %w", err)
	}
	path, err := WriteFile(v.Dir, "default.vcl", fmt.Sprintf("vcl 4.1; backend default { .host = %q; .port = %q; }\n", host, port))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{filepath.Dir(v.Dir), v.Dir, path} {
		if err := os.Chmod(name, 0o755); err != nil { //nolint:gosec // there is no secret in them
			return nil, fmt.Errorf("let Varnish read its configuration: %w", err)
		}
	}
	return process.Start(process.Command{Name: "Varnish", Path: v.Program, Args: []string{
		"-F", "-n", filepath.Join(v.Dir, "work"), "-a", v.Listen, "-f", path, "-s", v.Storage, "-p", "thread_pools=1", "-p", "timeout_idle=3600",
	}})
}

// TrafficServer is an Apache Traffic Server before one origin.
type TrafficServer struct {
	Program        string
	Dir            string // for its files
	Cache          string // a folder for its cache; "" is one in Dir
	CacheBytes     int64
	Listen, Origin string            // host:port
	Plugins        string            // what its only rule has behind the origin
	Records        string            // lines of records.config beside those that all have
	Files          map[string]string // more files, by their names in its folder etc
}

// records are the settings that differ from Traffic Server's defaults: one thread, as nginx has one worker, and no copies in memory.
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
%s`

// Modules returns the folder with the plugins of a Traffic Server: where Debian's package has it, or below the program's prefix.
func Modules(program string) string {
	prefix := filepath.Dir(filepath.Dir(program))
	debian := filepath.Join(prefix, "lib/trafficserver/modules")
	if _, err := os.Stat(debian); err == nil {
		return debian
	}
	return filepath.Join(prefix, "libexec/trafficserver")
}

// files returns the configuration: names below Dir and their contents.
func (t TrafficServer) files() map[string]string {
	host, port, _ := net.SplitHostPort(t.Listen)
	etc, modules := filepath.Join(t.Dir, "etc"), Modules(t.Program)
	log, run := filepath.Join(t.Dir, "log"), filepath.Join(t.Dir, "run")
	out := map[string]string{
		"runroot.yaml": strings.Join([]string{
			"prefix: " + t.Dir, "exec_prefix: " + t.Dir, "bindir: " + t.Dir, "sbindir: " + t.Dir, "sysconfdir: " + etc, "datadir: " + t.Dir,
			"includedir: " + t.Dir, "libdir: " + modules, "libexecdir: " + modules, "localstatedir: " + run, "runtimedir: " + run,
			"logdir: " + log, "cachedir: " + t.Cache, "",
		}, "\n"),
		"etc/records.config": fmt.Sprintf(records, port, host, t.Records),
		"etc/storage.config": fmt.Sprintf("%s %d\n", t.Cache, t.CacheBytes),
		"etc/remap.config":   fmt.Sprintf("map / http://%s/ %s\n", t.Origin, t.Plugins),
		"etc/ip_allow.yaml":  "ip_allow:\n- apply: in\n  ip_addrs: 127.0.0.1\n  action: allow\n  methods: ALL\n",
		"etc/plugin.config":  "", "etc/cache.config": "", "etc/hosting.config": "",
	}
	for name, text := range t.Files {
		out[filepath.Join("etc", name)] = text
	}
	return out
}

// Start runs it.
func (t TrafficServer) Start() (*process.Process, error) {
	if t.Cache == "" {
		t.Cache = filepath.Join(t.Dir, "cache")
	}
	for _, dir := range []string{t.Cache, filepath.Join(t.Dir, "log"), filepath.Join(t.Dir, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder: %w", err)
		}
	}
	for name, text := range t.files() {
		if _, err := WriteFile(t.Dir, name, text); err != nil {
			return nil, err
		}
	}
	return process.Start(process.Command{
		Name: "Traffic Server", Path: t.Program, Args: []string{"--run-root=" + filepath.Join(t.Dir, "runroot.yaml")}, Dir: t.Dir,
	})
}
