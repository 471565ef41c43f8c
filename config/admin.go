package config

import (
	"io/fs"
	"net"
	"net/netip"
	"strings"

	"edgeproxy/internal/http/wire"
)

// Admin is the listener for operators. At most one of Token and TokenFile is set. If the
// address is neither loopback nor a socket, one of them is.
type Admin struct {
	Address    string
	SocketMode fs.FileMode
	// Token is the bearer token of every request, except those for health and metrics; "" is
	// no token.
	Token Secret
	// TokenFile is the path of a file that holds the token. White space around the token is
	// ignored. This package does not read the file.
	TokenFile string
	// Hosts are accepted as Host, besides loopback names and the address itself. Each is a
	// name or an address: HOST for any port, HOST:PORT for that port.
	Hosts []string
	Pprof bool // profiles of the process under /debug/pprof/
}

// Listen returns the listener's address and socket mode.
func (a Admin) Listen() Listen { return Listen{Address: a.Address, SocketMode: a.SocketMode} }

// Secret is text that prints as stars, in JSON and in logs too.
type Secret string

// stars stand for a secret.
const stars = "***"

// String returns stars, or "" for no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return stars
}

// GoString returns stars, like String.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns stars, like String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MaxToken is the largest size of a token in bytes: it has to fit into the head of a request.
const MaxToken = 1024

// ValidToken reports whether a header field can carry the token as it is.
func ValidToken(token string) bool {
	return token != "" && len(token) <= MaxToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// minToken is the size in bytes below which a token is easy to guess.
const minToken = 16

func (a *Admin) table() table {
	return table{
		restart("address", textual(&a.Address, "127.0.0.1:9980"),
			"Loopback, unix:/run/admin.sock with a socket_mode, or another address with a token.").withFlag(flagAdmin, "address of the admin listener").asBasic(),
		restart("socket_mode", socketMode(&a.SocketMode), "The permissions of a socket; \"0600\" if none are given.").asOptional().withExample(`"0600"`),
		live("token_file", textual(&a.TokenFile, ""),
			"A file with the token that all requests but those for health and metrics need.").withExample("/etc/edgeproxy/token"),
		live("token", secret(&a.Token), "The token itself, in place of token_file.").withExample(`"${EDGEPROXY_ADMIN_TOKEN:-}"`),
		live("hosts", texts(&a.Hosts, "names and addresses", "must be a list of names and addresses, such as [edge.internal]"),
			"Host values that are accepted besides loopback and the address.").withExample("[edge.internal]"),
		live("pprof", boolean(&a.Pprof, false), "true shows profiles of the process under /debug/pprof/."),
	}
}

// admin checks the settings that only the listener for operators has.
func (v *validator) admin() {
	const token, file, address = "admin.token", "admin.token_file", "admin.address"
	a := &v.c.Admin
	none := a.Token == "" && a.TokenFile == ""
	if a.Token != "" && !ValidToken(string(a.Token)) && v.noErrorAt(token) {
		v.fail(token, "must be at most 1024 characters of printable ASCII, without spaces")
	}
	if a.Token != "" && a.TokenFile != "" && v.noErrorAt(token, file) {
		v.fail(file, "must be only one of token and token_file")
	}
	if v.noErrorAt(address, token, file) && none && a.Open() {
		v.fail(address, "needs admin.token_file or admin.token beside it, or a loopback host, such as 127.0.0.1, or unix:PATH: without a token, anybody who can connect could purge")
	}
	v.adminHosts(a.Hosts)
}

// adminHosts checks the host names of the listener for operators.
func (v *validator) adminHosts(hosts []string) {
	for i, host := range hosts {
		at := item("admin.hosts", i)
		_, err := netip.ParseAddr(host)
		if _, _, ok := wire.ParseHost(host); err != nil && !ok && v.noErrorAt(at) {
			v.fail(at, "must be HOST or HOST:PORT, a name or an address, without *")
		}
	}
}

// Open reports whether other machines may reach the address, which is valid.
func (a Admin) Open() bool {
	l := a.Listen()
	return !l.Socket() && !loopback(a.Address)
}

// warnOfAdmin warns of a short token and of an admin listener that other machines reach.
func (c *Config) warnOfAdmin(warn func(path, text string)) {
	a := &c.Admin
	if a.Token != "" && len(a.Token) < minToken {
		warn("admin.token", "shorter than 16 characters: it may be guessed")
	}
	if !a.Open() {
		return
	}
	warn("admin.address", "the token goes over the network unencrypted: use a network that nobody else can read")
	host, _, _ := net.SplitHostPort(a.Address)
	if addr, err := netip.ParseAddr(host); (host == "" || err == nil && addr.IsUnspecified()) && len(a.Hosts) == 0 {
		warn("admin.address", "listens on every interface, but answers only requests whose Host is a loopback name: list the names that others use in admin.hosts")
	}
}
