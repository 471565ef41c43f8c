package config

import (
	"strings"
	"time"

	"edgeproxy/internal/origin/balance"
)

func (o *Origin) table() table {
	return table{
		live("servers", &items[Server]{
			field: &o.Servers, want: `must be a list, such as ["http://127.0.0.1:9000"]`, tableOf: (*Server).table,
			short: (*Server).url, isShort: func(s *Server) bool { return s.Weight == 1 && !s.Backup }, oneLine: true, kindText: "list of URLs, or of sections",
		}, "URLs, http:// or https://, srv+http:// or srv+https:// for a name of SRV records, or unix:/PATH for a socket, or {url: \"http://…\", weight: 2}.").asRequired().asBasic().withFlag(flagOrigin, "origin server, http[s]://HOST[:PORT]; only where the file has no origins"),
		live("balance", enum(&o.Balance, balance.RoundRobin, balance.RoundRobin, balance.LeastConnections, balance.Hash),
			"How the server of a request is chosen. hash sends a URL to the same one, by consistent hashing: for servers that are caches."),
		live("resolve", enum(&o.Resolve, ResolveAll, ResolveAll, ResolveFirst),
			"What a name with several addresses is: all is a server for each address, with its own health check, ejection and max_connections; first is one server, at the first address that answers. localhost is one server."),
		live("protocol", either(&o.HTTP2, false, "http/1.1", "h2"),
			"The protocol to all servers. h2 is HTTP/2: https:// servers must offer it by ALPN, http:// and unix: ones speak it without negotiation (h2c). It has no upgrades."),
		live("host_header", textual(&o.HostHeader, HostClient).withBounds("client, server or HOST[:PORT]"),
			"The Host that the origin gets: client is that of the request, server that of the server's URL, or localhost for a socket."),
		live("connect_timeout", duration(&o.ConnectTimeout, 3*time.Second).moreThan(0), "The time for a connection, with TLS."),
		live("first_byte_timeout", duration(&o.FirstByteTimeout, 30*time.Second).moreThan(0), "The time from the request sent to the head received."),
		live("idle_timeout", duration(&o.IdleTimeout, 30*time.Second).moreThan(0), "The time between two reads of a body."),
		live("keepalive_timeout", duration(&o.KeepaliveTimeout, 55*time.Second).atMost(maxKeepalive),
			"How long an idle connection is kept; 0s closes each after its response. A shorter Keep-Alive: timeout of the origin is heeded."),
		live("max_connection_age", duration(&o.MaxAge, 0).atMost(maxKeepalive), "A connection that is older gets no more requests; 0s is none. Up to a tenth less, by chance."),
		live("max_connections", count(&o.MaxConnections, 512).between(1, maxCount), "Connections per server; by h2, requests at a time."),
		live("reuse_after_post", boolean(&o.ReuseAfterPost, true),
			"false closes a connection after a POST, PUT or PATCH with a body: for an origin that may not read it. After other methods with a body it is always closed. h2 does not need this."),
		section("queue", o.queueTable, "Requests wait here for a connection; then they get a 503."),
		section("retry", func() table { return retryTable(&o.Retry) }, "A request that breaks before its response has begun is sent once more, to another server if there is one."),
		section("ejection", func() table { return ejectionTable(&o.Ejection) }, "A server that fails gets no requests for a while."),
		section("health", func() table { return healthTable(&o.Health) }, "Health checks of servers."),
		section("tls", o.TLS.table, "Only allowed if a server is https; files are PEM.").asOptional(),
	}
}

// maxKeepalive bounds how long a connection to an origin is kept.
const maxKeepalive = 24 * time.Hour

// queueTable is the queue of requests that wait for a connection.
func (o *Origin) queueTable() table {
	return table{
		live("requests", count(&o.QueueRequests, 1024).between(0, maxCount), "How many may wait; 0 is no queue."),
		live("wait", duration(&o.QueueWait, 3*time.Second), "How long a request may wait; above 0s if there is a queue."),
	}
}

func (t *OriginTLS) table() table {
	return table{
		live("ca", textual(&t.CA, ""), `The authorities to trust; "" is those of the system.`),
		live("certificate", textual(&t.Certificate, ""), "The client certificate for the origin; needs key."),
		live("key", textual(&t.Key, ""), "The key of the certificate."),
		live("server_name", textual(&t.ServerName, ""), `For SNI and verification; "" is the host of the URL.`),
		live("insecure_skip_verify", boolean(&t.InsecureSkipVerify, false), "true accepts any certificate."),
		live("min_version", tlsVersion(&t.MinVersion), "The lowest version of TLS."),
	}
}

// maxWeight keeps a cycle of weighted round robin short.
const maxWeight = 1000

func (s *Server) table() table {
	return table{
		live("url", s.url(), "http[s]://HOST[:PORT], without user, password or path; srv+http[s]://NAME, whose SRV records have hosts and ports; or unix:/PATH.").asRequired(),
		live("weight", count(&s.Weight, 1).between(1, maxWeight), "Its share of the requests, relative to the other servers. Each address of resolve: all has it; weights of SRV records are multiplied by it."),
		live("backup", boolean(&s.Backup, false), "true gives it requests only while every other server is ejected or unhealthy."),
	}
}

// url is a server's URL. It changes neither weight nor backup.
func (s *Server) url() *scalar[Server] {
	weight, backup := &s.Weight, &s.Backup
	return parsed(s, Server{Weight: 1}, "URL", wantServer, func(text string) (Server, error) {
		read, err := parseServer(text)
		read.Weight, read.Backup = *weight, *backup
		return read, err
	}, Server.URL)
}

// URL returns the server's URL as in a file.
func (s Server) URL() string {
	if strings.HasPrefix(s.Address, socketPrefix) {
		return s.Address
	}
	scheme, host := "http://", s.Host
	if s.TLS {
		scheme = "https://"
	}
	if s.SRV {
		scheme, host = "srv+"+scheme, s.Address
	}
	return scheme + host
}
