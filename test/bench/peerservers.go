package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nginxPeer is nginx with a server for each work.
type nginxPeer struct {
	*process
	hits, plain, stores, secure string // host:port: min_uses 2, no cache, all is stored, TLS
	says                        string // as stores, and says whether it is a hit
}

// haproxyPeer is HAProxy with and without its cache.
type haproxyPeer struct {
	*process
	caches, plain string // host:port
}

// startPeers starts the peers that are installed.
func (f *field) startPeers(short, long certified) (err error) {
	for _, peer := range []struct {
		name, program string
		start         func(program string) (*process, error)
	}{
		{"nginx", "nginx", func(program string) (*process, error) { return f.startNginx(program, short, long) }},
		{"HAProxy", "haproxy", f.startHAProxy},
		{"Varnish", "varnishd", f.startVarnish},
		{"Traffic Server", "traffic_server", f.startTrafficServer},
	} {
		path, ok := installed(peer.program)
		if !ok {
			f.absent = append(f.absent, peer.name)
			continue
		}
		p, err := peer.start(path)
		if err != nil {
			return err
		}
		f.closing = append(f.closing, func() error { _ = p.Close(); return nil }) // each has an exit code of its own for our signal
	}
	return nil
}

// installed returns the path of a program. Debian's daemons are in /usr/sbin, which is not in everybody's path.
func installed(program string) (path string, ok bool) {
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + program)
	}
	return path, err == nil
}

const nginxText = `daemon off; %[1]sworker_processes 1; pid %[2]s/nginx.pid; error_log stderr error;
events { worker_connections 4096; }
http {
	access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 1h;
	client_body_temp_path %[2]s/a; proxy_temp_path %[2]s/b; fastcgi_temp_path %[2]s/c; uwsgi_temp_path %[2]s/d; scgi_temp_path %[2]s/e;
	open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
	proxy_cache_path %[2]s/second levels=1:2 keys_zone=second:64m max_size=1g inactive=1d use_temp_path=off;
	proxy_cache_path %[2]s/first levels=1:2 keys_zone=first:64m max_size=1g inactive=1d use_temp_path=off;
	upstream origin { server %[3]s; keepalive 128; keepalive_requests 1000000000; }
	proxy_http_version 1.1;
	proxy_set_header Connection "";
	ssl_certificate %[4]s; ssl_certificate_key %[5]s; ssl_protocols TLSv1.3;
	server { listen %[6]s; location / { proxy_pass http://origin; proxy_cache second; proxy_cache_min_uses 2; } }
	server { listen %[7]s; location / { proxy_pass http://origin; proxy_max_temp_file_size 0; } }
	server { listen %[8]s; location / { proxy_pass http://origin; proxy_cache first; } }
	server { listen %[13]s; location / { proxy_pass http://origin; proxy_cache first; add_header X-Cache $upstream_cache_status; } }
	server { listen %[9]s ssl http2; location / { proxy_pass http://origin; proxy_cache second; proxy_cache_min_uses 2; } }
	server { listen %[9]s ssl http2; server_name %[10]s; ssl_certificate %[11]s; ssl_certificate_key %[12]s; }
}
`

func (f *field) startNginx(program string, short, long certified) (*process, error) {
	var at [5]string
	if err := freeAddresses(at[:]); err != nil {
		return nil, err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root; " // the workers' own user could not use the folder
	}
	dir := filepath.Join(f.dir, "nginx")
	path, err := writeFile(dir, "nginx.conf", fmt.Sprintf(nginxText, user, dir, f.origin.address, short.certificate, short.key, at[0], at[1], at[2], at[3],
		rsaName, long.certificate, long.key, at[4]))
	if err != nil {
		return nil, err
	}
	p, err := startAt("nginx", at[3], program, "-c", path, "-p", dir)
	if err == nil {
		f.nginx = &nginxPeer{p, at[0], at[1], at[2], at[3], at[4]}
	}
	return p, err
}

const haproxyText = `global
	nbthread 1
	maxconn 4096
defaults
	mode http
	timeout client 60s
	timeout server 60s
	timeout connect 5s
cache objects
	total-max-size 256
	max-object-size 1000000
	max-age 3600
frontend caches
	bind %[1]s
	default_backend cached
frontend plain
	bind %[2]s
	default_backend plain
backend cached
	http-request cache-use objects
	http-response cache-store objects
	http-reuse always
	server origin %[3]s
backend plain
	http-reuse always
	server origin %[3]s
`

func (f *field) startHAProxy(program string) (*process, error) {
	var at [2]string
	if err := freeAddresses(at[:]); err != nil {
		return nil, err
	}
	path, err := writeFile(filepath.Join(f.dir, "haproxy"), "haproxy.cfg", fmt.Sprintf(haproxyText, at[0], at[1], f.origin.address))
	if err != nil {
		return nil, err
	}
	p, err := startAt("HAProxy", at[1], program, "-db", "-f", path)
	if err == nil {
		f.haproxy = &haproxyPeer{p, at[0], at[1]}
	}
	return p, err
}

func (f *field) startVarnish(program string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(f.origin.address)
	if err != nil {
		return nil, fmt.Errorf("the origin's address: %w", err)
	}
	dir := filepath.Join(f.dir, "varnish")
	path, err := writeFile(dir, "default.vcl", fmt.Sprintf("vcl 4.1; backend default { .host = %q; .port = %q; }\n", host, port))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{f.dir, dir, path} { // Varnish uses them as a user of its own
		if err := os.Chmod(name, 0o755); err != nil { //nolint:gosec // there is no secret in them
			return nil, fmt.Errorf("let Varnish read its configuration: %w", err)
		}
	}
	f.varnish, err = f.startVarnishd(program, address, path, "work", "malloc,512m")
	if err != nil {
		return nil, err
	}
	beside, err := freeAddress()
	if err != nil {
		return f.varnish, err
	}
	f.varnishFile, err = f.startVarnishd(program, beside, path, "file", "file,"+filepath.Join(dir, "cache")+",1g")
	if err == nil {
		file := f.varnishFile
		f.closing = append(f.closing, func() error { _ = file.Close(); return nil })
	}
	return f.varnish, err
}

// startVarnishd starts one Varnish with the files of its own in a folder called work.
func (f *field) startVarnishd(program, address, vcl, work, storage string) (*process, error) {
	return startAt("Varnish", address, program, "-F", "-n", filepath.Join(filepath.Dir(vcl), work), "-a", address, "-f", vcl, "-s", storage, "-p", "thread_pools=1", "-p", "timeout_idle=3600")
}

// startAt is start for a program that listens at address without a word about it.
func startAt(name, address, program string, args ...string) (*process, error) {
	p, err := launch(name, program, args...)
	if err != nil {
		return nil, err
	}
	p.address = address
	for until := time.Now().Add(startWait); time.Now().Before(until); {
		select {
		case err := <-p.ended:
			p.ended <- err
			return nil, fmt.Errorf("%s ended at its start: %w", name, errors.Join(err, p.Close()))
		default:
		}
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return p, c.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("%s does not listen at %s within %v", name, address, startWait), p.Close())
}

// writeFile writes a file in a folder that it makes.
func writeFile(dir, name, text string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write a configuration: %w", err)
	}
	return path, nil
}

// freeAddress returns an address that nobody listens at.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

func freeAddresses(at []string) (err error) {
	for i := range at {
		if at[i], err = freeAddress(); err != nil {
			return err
		}
	}
	return nil
}

// startBareProxy starts this program once more, as a proxy before origin.
func startBareProxy(origin string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	return start("bare proxy", func(line string) string { return line }, self, bareProxyCommand, origin)
}

// pid is that of the process.
func (p *process) pid() int { return p.cmd.Process.Pid }

// treeTime returns cpuTime of a process and of all below it.
func treeTime(pid int) (time.Duration, error) {
	sum, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	for _, child := range children(pid) {
		if used, err := treeTime(child); err == nil { // else it has just gone
			sum += used
		}
	}
	return sum, nil
}
