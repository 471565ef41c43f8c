package main

import (
	"fmt"

	"edgeproxy/internal/lab/peers"
)

// nginxConfig is what differs between nginx runs.
type nginxConfig struct {
	listen, admin, origin string // host:port
	minUses               int
	maxBytes              int64
	keys                  int64  // distinct keys of the trace
	memory                string // a folder in memory for the cache; "" = none
	cache                 string // the cache's own folder
}

// nginxHTTP is the section http.
//
// use_temp_path=off: a file is stored by one rename in the cache's only
// folder. The second cache belongs to the pacemaker: it is always over its size, and
// each check of the manager removes one of its keys.
const nginxHTTP = `	log_format replay "$upstream_cache_status $status $body_bytes_sent $upstream_response_length";
	access_log access.log replay;
	proxy_cache_path "%[9]s" keys_zone=objects:%[1]dm max_size=%[2]d inactive=%[3]ds use_temp_path=off
		manager_files=10000 manager_threshold=1s manager_sleep=%[4]dms;
	proxy_cache_path temp/pace keys_zone=pace:8m max_size=1 inactive=%[3]ds use_temp_path=off
		manager_files=1 manager_sleep=%[4]dms;
	upstream origin { server %[5]s; keepalive 64; keepalive_requests 1000000000; }
	server {
		listen %[6]s;
		location / {
			proxy_pass http://origin;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_max_temp_file_size 0;
			proxy_cache objects;
			proxy_cache_key $request_uri;
			proxy_cache_min_uses %[7]d;
		}
	}
	server {
		listen %[8]s;
		access_log off;
		location = /empty { return 204; }
		location = /pace {
			proxy_pass http://%[8]s/empty;
			proxy_cache pace;
			proxy_cache_key $request_id;
			proxy_cache_min_uses 1000;
		}
	}`

// peer returns an nginx with its files in home. The zone has room for twice the keys; nginx
// stores about 8,000 in a MB.
func (c *nginxConfig) peer(program, home string) peers.Nginx {
	return peers.Nginx{Program: program, Dir: home, Main: "worker_processes 1;", HTTP: fmt.Sprintf(nginxHTTP, 2+c.keys/4000, c.maxBytes,
		int64(nginxInactive.Seconds()), paceManager.Milliseconds(), c.origin, c.listen, c.minUses, c.admin, c.cache)}
}
