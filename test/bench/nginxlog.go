package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// nginxLogText is nginx with a cache and a log. Its lines in JSON have the fields of ours, as far as nginx knows them. It writes 64 KiB
// at once, as we write many lines at once.
const nginxLogText = `daemon off; master_process off; %[1]spid %[2]s/nginx.pid; error_log stderr error;
events { worker_connections 4096; }
http {
	sendfile on; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 1h;
	client_body_temp_path %[2]s/a; proxy_temp_path %[2]s/b; fastcgi_temp_path %[2]s/c; uwsgi_temp_path %[2]s/d; scgi_temp_path %[2]s/e;
	open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
	proxy_cache_path %[2]s/cache levels=1:2 keys_zone=first:64m max_size=1g inactive=1d use_temp_path=off;
	log_format json escape=json '{"time":"$time_iso8601","host":"$host","target":"$request_uri","method":"$request_method",'
		'"status":$status,"bytes":$body_bytes_sent,"result":"$upstream_cache_status","route":"$server_name","duration":$request_time,'
		'"client":"$remote_addr","scheme":"$scheme","protocol":"$server_protocol","user_agent":"$http_user_agent",'
		'"referer":"$http_referer","request_id":"$http_x_request_id","trace_id":"$http_traceparent","user":"$remote_user",'
		'"origin":"$upstream_addr","origin_connect":"$upstream_connect_time","origin_first_byte":"$upstream_header_time",'
		'"origin_total":"$upstream_response_time"}';
	map $upstream_cache_status $status_of_cache { HIT "hit; ttl=1"; default "fwd=miss"; }
	access_log %[3]s;
	server {
		listen %[4]s;
		location / { proxy_pass http://%[5]s; proxy_cache first; add_header Cache-Status "nginx; $status_of_cache"; }
	}
}
`

// startNginxLogging is startLogging for nginx.
func startNginxLogging(program, origin, dir, format string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root; "
	}
	log := "off"
	if format != "" {
		log = fmt.Sprintf("%s %s buffer=64k flush=1s", filepath.Join(dir, format+".log"), format)
	}
	folder := filepath.Join(dir, "nginx"+format)
	path, err := writeFile(folder, "nginx.conf", fmt.Sprintf(nginxLogText, user, folder, log, address, origin))
	if err != nil {
		return nil, err
	}
	return startAt(nginxName, address, program, "-c", path, "-p", folder)
}
