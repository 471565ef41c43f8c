package config

import "time"

// Origin is a place that responses come from.
type Origin struct {
	Name    string   // what routes call it, and the metric label; see validName
	Servers []Server // exactly one

	// HostHeader is HostClient, HostServer or a literal HOST[:PORT]: the Host
	// field that the origin is sent.
	HostHeader string

	ConnectTimeout   time.Duration // above 0
	FirstByteTimeout time.Duration // from the request sent to the head received; above 0
	IdleTimeout      time.Duration // between two reads of a body; above 0
	MaxConnections   int           // per server, 1 or more
	Queue            Queue
}

// The values of Origin.HostHeader that are no literal.
const (
	HostClient = "client" // what the client sent
	HostServer = "server" // what stands in the server's URL
)

// Queue is the room for requests that wait for a connection to an origin.
type Queue struct {
	Requests int           // 0 is no queue: an answer of 503 at once
	Wait     time.Duration // then 503; above 0 where Requests is
}

// Server is one address of an origin, from a URL such as http://127.0.0.1:9000.
// Its scheme is http.
type Server struct {
	Address string // HOST:PORT to dial; the port is 80 where the URL has none
	Host    string // for a Host field: lower case, without the default port
}
