package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"edgeproxy/internal/lab/peers"
	"edgeproxy/internal/lab/process"
)

// nginxPeer is nginx with a server for each work.
type nginxPeer struct {
	*process.Process
	hits, plain, stores, secure string // host:port: min_uses 2, no cache, all is stored, TLS
	says                        string // the same as stores, but says whether it is a hit
}

// haproxyPeer is HAProxy with and without its cache.
type haproxyPeer struct {
	*process.Process
	caches, plain string // host:port
}

// startPeers starts the peers that are installed.
func (f *field) startPeers(ctx context.Context, short, long certified) error {
	for _, peer := range []struct {
		name, program string
		start         func(ctx context.Context, program string) error
	}{
		{nginxName, "nginx", func(ctx context.Context, program string) error { return f.startNginx(ctx, program, short, long) }},
		{"HAProxy", "haproxy", f.startHAProxy},
		{"Varnish", "varnishd", f.startVarnish},
		{"Traffic Server", "traffic_server", f.startTrafficServer},
	} {
		path, err := peers.Find(peer.program)
		if err != nil {
			f.absent = append(f.absent, peer.name)
			continue
		}
		if err := peer.start(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

const nginxText = `	access_log off;
	open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
	proxy_cache_path second levels=1:2 keys_zone=second:64m max_size=1g inactive=1d use_temp_path=off;
	proxy_cache_path first levels=1:2 keys_zone=first:64m max_size=1g inactive=1d use_temp_path=off;
	upstream origin { server %[1]s; keepalive 128; keepalive_requests 1000000000; }
	proxy_http_version 1.1;
	proxy_set_header Connection "";
	ssl_certificate %[2]s; ssl_certificate_key %[3]s; ssl_protocols TLSv1.3;
	server { listen %[4]s; location / { proxy_pass http://origin; proxy_cache second; proxy_cache_min_uses 2; } }
	server { listen %[5]s; location / { proxy_pass http://origin; proxy_max_temp_file_size 0; } }
	server { listen %[6]s; location / { proxy_pass http://origin; proxy_cache first; } }
	server { listen %[11]s; location / { proxy_pass http://origin; proxy_cache first; add_header X-Cache $upstream_cache_status; } }
	server { listen %[7]s ssl http2; location / { proxy_pass http://origin; proxy_cache second; proxy_cache_min_uses 2; } }
	server { listen %[7]s ssl http2; server_name %[8]s; ssl_certificate %[9]s; ssl_certificate_key %[10]s; }`

func (f *field) startNginx(ctx context.Context, program string, short, long certified) error {
	at, err := process.FreeAddresses(5)
	if err != nil {
		return err
	}
	p, err := peers.Nginx{Program: program, Dir: filepath.Join(f.dir, "nginx"), Main: "worker_processes 1;", HTTP: fmt.Sprintf(nginxText,
		f.origin.address, short.certificate, short.key, at[0], at[1], at[2], at[3], rsaName, long.certificate, long.key, at[4])}.Start()
	p, err = f.await(ctx, p, err, at[3])
	f.nginx = &nginxPeer{p, at[0], at[1], at[2], at[3], at[4]}
	return err
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

func (f *field) startHAProxy(ctx context.Context, program string) error {
	at, err := process.FreeAddresses(2)
	if err != nil {
		return err
	}
	p, err := peers.HAProxy{Program: program, Dir: filepath.Join(f.dir, "haproxy"), Config: fmt.Sprintf(haproxyText, at[0], at[1], f.origin.address)}.Start()
	p, err = f.await(ctx, p, err, at[1])
	f.haproxy = &haproxyPeer{p, at[0], at[1]}
	return err
}

// startVarnish starts one Varnish with its cache in memory and one with it in a file.
func (f *field) startVarnish(ctx context.Context, program string) error {
	at, err := process.FreeAddresses(2)
	if err != nil {
		return err
	}
	for i, v := range []struct {
		at      **process.Process
		storage string
	}{{&f.varnish, "malloc,512m"}, {&f.varnishFile, "file," + filepath.Join(f.dir, "varnish.cache") + ",1g"}} {
		dir := filepath.Join(f.dir, "varnish"+strconv.Itoa(i))
		p, err := peers.Varnish{Program: program, Dir: dir, Listen: at[i], Origin: f.origin.address, Storage: v.storage}.Start()
		if *v.at, err = f.await(ctx, p, err, at[i]); err != nil {
			return err
		}
	}
	return nil
}

// trafficCache is the size of the file of Traffic Server's cache.
const trafficCache = 256 << 20

func (f *field) startTrafficServer(ctx context.Context, program string) error {
	at, err := process.FreeAddresses(1)
	if err != nil {
		return err
	}
	p, err := peers.TrafficServer{
		Program: program, Dir: filepath.Join(f.dir, "trafficserver"), CacheBytes: trafficCache, Listen: at[0], Origin: f.origin.address,
		Records: "CONFIG proxy.config.log.logging_enabled INT 0\n",
	}.Start()
	f.traffic, err = f.await(ctx, p, err, at[0])
	return err
}

// nginxLogText is nginx with a cache and a log. Its lines in JSON have the fields of ours, as far as nginx knows them. It writes 64 KiB
// at once, as we write many lines at once.
const nginxLogText = `	open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
	proxy_cache_path cache levels=1:2 keys_zone=first:64m max_size=1g inactive=1d use_temp_path=off;
	log_format json escape=json '{"time":"$time_iso8601","host":"$host","target":"$request_uri","method":"$request_method",'
		'"status":$status,"bytes":$body_bytes_sent,"result":"$upstream_cache_status","route":"$server_name","duration":$request_time,'
		'"client":"$remote_addr","scheme":"$scheme","protocol":"$server_protocol","user_agent":"$http_user_agent",'
		'"referer":"$http_referer","request_id":"$http_x_request_id","trace_id":"$http_traceparent","user":"$remote_user",'
		'"origin":"$upstream_addr","origin_connect":"$upstream_connect_time","origin_first_byte":"$upstream_header_time",'
		'"origin_total":"$upstream_response_time"}';
	map $upstream_cache_status $status_of_cache { HIT "hit; ttl=1"; default "fwd=miss"; }
	access_log %s;
	server {
		listen %s;
		location / { proxy_pass http://%s; proxy_cache first; add_header Cache-Status "nginx; $status_of_cache"; }
	}`

// startNginxLogging is startLogging for nginx.
func (s *scene) startNginxLogging(ctx context.Context, program, format string) (*process.Process, error) {
	at, err := process.FreeAddresses(1)
	if err != nil {
		return nil, err
	}
	log := "off"
	if format != "" {
		log = fmt.Sprintf("%s %s buffer=64k flush=1s", filepath.Join(s.dir, format+".log"), format)
	}
	p, err := peers.Nginx{
		Program: program, Dir: filepath.Join(s.dir, "nginx"+format), Main: "master_process off;",
		HTTP: fmt.Sprintf(nginxLogText, log, at[0], s.origin.address),
	}.Start()
	return s.await(ctx, p, err, at[0])
}
