package main

import "fmt"

// nginxConfig is what differs between nginx runs.
type nginxConfig struct {
	listen, admin, origin string // host:port
	minUses               int
	maxBytes              int64
	keys                  int64 // distinct keys of the trace
	euid                  int
	memory                string // a folder in memory for the cache; "" = none
	cache                 string // the cache's own folder
}

// nginxText is the template of text(). Paths are relative to the folder given with -p.
//
// One worker is enough for the rates of this driver. It closes its connections when it
// is replaced. use_temp_path=off: a file is stored by one rename in the cache's only
// folder. The second cache belongs to the pacemaker: it is always over its size, and
// each check of the manager removes one of its keys.
const nginxText = `daemon off;
%[1]sworker_processes 1;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
	log_format replay "$upstream_cache_status $status $body_bytes_sent $upstream_response_length";
	access_log access.log replay;
	client_body_temp_path temp/body;
	proxy_temp_path temp/proxy;
	fastcgi_temp_path temp/fastcgi;
	uwsgi_temp_path temp/uwsgi;
	scgi_temp_path temp/scgi;
	proxy_cache_path "%[10]s" keys_zone=objects:%[2]dm max_size=%[3]d inactive=%[4]ds use_temp_path=off
		manager_files=10000 manager_threshold=1s manager_sleep=%[5]dms;
	proxy_cache_path temp/pace keys_zone=pace:8m max_size=1 inactive=%[4]ds use_temp_path=off
		manager_files=1 manager_sleep=%[5]dms;
	keepalive_timeout 1h;
	keepalive_requests 1000000000;
	sendfile on;
	upstream origin { server %[6]s; keepalive 64; keepalive_requests 1000000000; }
	server {
		listen %[7]s;
		location / {
			proxy_pass http://origin;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_max_temp_file_size 0;
			proxy_cache objects;
			proxy_cache_key $request_uri;
			proxy_cache_min_uses %[8]d;
		}
	}
	server {
		listen %[9]s;
		access_log off;
		location = /empty { return 204; }
		location = /pace {
			proxy_pass http://%[9]s/empty;
			proxy_cache pace;
			proxy_cache_key $request_id;
			proxy_cache_min_uses 1000;
		}
	}
}
`

// text returns the configuration file. The zone has room for twice the keys; nginx
// stores about 8,000 in a MB.
func (c *nginxConfig) text() []byte {
	user := ""
	if c.euid == 0 {
		user = "user root;\n" // the default user of workers could not use the folder
	}
	return fmt.Appendf(nil, nginxText, user, 2+c.keys/4000, c.maxBytes,
		int64(nginxInactive.Seconds()), paceManager.Milliseconds(), c.origin, c.listen, c.minUses, c.admin, c.cache)
}
