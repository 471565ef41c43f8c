package config

import (
	"crypto/tls"
	"strings"
	"time"

	"edgeproxy/internal/origin"
)

// Origin is a place that responses come from.
type Origin struct {
	Name    string   // the name in routes, and the metric label; see validName
	Servers []Server // at least one, each once
	Resolve Resolve  // what a name with several addresses is

	// HostHeader is the Host field that the origin gets: HostClient, HostServer or
	// a literal HOST[:PORT].
	HostHeader string

	origin.Settings
	KeepaliveTimeout time.Duration // for which an idle connection is kept; 0 is none is
	TLS              OriginTLS     // for servers with https
}

// Resolve is a value of resolve: which servers a name with several addresses is.
type Resolve string

// The values of Resolve.
const (
	ResolveFirst Resolve = "first" // one, at the first of its addresses that answers
	ResolveAll   Resolve = "all"   // one for each of its addresses
)

// The values of Origin.HostHeader that are no literal.
const (
	HostClient = "client" // what the client sent
	HostServer = "server" // the host of the URL of the server that gets the request
)

// OriginTLS is the settings of TLS to an origin. Certificates are in PEM.
type OriginTLS struct {
	CA               string // a file with the authorities to trust; "" is the system's
	Certificate, Key string // files of the client certificate; both or none
	ServerName       string // for SNI and verification; "" is the host of the server's URL

	InsecureSkipVerify bool // accept any certificate
	MinVersion         TLSVersion
}

// TLSVersion is a value of min_version.
type TLSVersion uint16

// The values of TLSVersion.
const (
	TLS12 TLSVersion = tls.VersionTLS12 // RFC 5246
	TLS13 TLSVersion = tls.VersionTLS13 // RFC 8446
)

// String returns the word of v in a file.
func (v TLSVersion) String() string { return strings.TrimPrefix(tls.VersionName(uint16(v)), "TLS ") }

// Server is one address of an origin, from a URL such as http://127.0.0.1:9000, srv+http://_http._tcp.app.internal or unix:/run/app.sock.
type Server struct {
	TLS     bool   // the scheme is https, or srv+https
	SRV     bool   // Address is a name of SRV records (RFC 2782), which have hosts and ports
	Address string // HOST:PORT to dial; without a port in the URL, 80 or 443. Or unix:/PATH, which has no TLS
	Weight  int    // its share of requests, relative to the other servers; 1 to 1000
	Backup  bool   // it gets requests only while no other server can
	Host    string // for a Host field: lower case, without the default port; localhost for a socket; without the leading labels with _ for SRV records
}
