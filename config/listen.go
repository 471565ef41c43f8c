package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

const (
	socketPrefix = "unix:"
	// maxSocketPath is the largest size of a path that fits into an address of the kernel
	// with its zero byte (unix(7)).
	maxSocketPath = 107

	listenForms = "HOST:PORT, such as 127.0.0.1:8080, or unix:PATH"
	wantListen  = "must be " + listenForms
	wantMode    = `must be the mode of a socket in octal digits, such as "0660"`
)

// Listen is one address that serves clients.
type Listen struct {
	// Address is HOST:PORT or unix:PATH. An empty host is every interface, by IPv4 and IPv6; 0.0.0.0 is every one by IPv4 alone, [::] by
	// IPv6 alone. Port 0 is any free port.
	Address string
	// SocketMode is the permissions of the socket in the file system; 0 is 0600.
	SocketMode fs.FileMode

	// TLS says that clients speak TLS; they may choose HTTP/2 then.
	TLS bool

	// Livez says that GET /livez is answered here, whatever the routes say.
	Livez bool

	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded are trusted.
	TrustedProxies []netip.Prefix
	// ProxyProtocol says that each connection begins with a header of the PROXY protocol,
	// whose source address then is the peer.
	ProxyProtocol bool
}

// Socket reports whether the address is a socket in the file system.
func (l *Listen) Socket() bool { return strings.HasPrefix(l.Address, socketPrefix) }

func (l *Listen) table() table {
	return table{
		restart("address", textual(&l.Address, ""),
			`":8080" is every interface by IPv4 and IPv6, "0.0.0.0:8080" by IPv4 alone, unix:/run/edge.sock a socket.`).asRequired().withFlag(flagListen, "address to serve clients on").asBasic(),
		restart("socket_mode", socketMode(&l.SocketMode), `The permissions of a socket; "0600" if none are given.`).asOptional().withExample(`"0600"`),
		restart("tls", boolean(&l.TLS, false), "true speaks TLS with the certificates of tls, HTTP/1.1 and HTTP/2."),
		live("livez", boolean(&l.Livez, false), "true answers GET /livez with 200, also without Host, for load balancers."),
		live("trusted_proxies", networks(&l.TrustedProxies, "must be a list, such as [10.0.0.0/8]"),
			"Addresses and networks whose X-Forwarded-* and Forwarded are trusted.").withExample("[10.0.0.0/8]"),
		restart("proxy_protocol", boolean(&l.ProxyProtocol, false),
			"true expects a header of the PROXY protocol, version 1 or 2, at the start of each connection."),
	}
}

// socketMode is the permissions of a socket; 0 means that the file has none.
func socketMode(field *fs.FileMode) *scalar[fs.FileMode] {
	s := parsed(field, 0, "octal digits", wantMode, parseMode, func(m fs.FileMode) string {
		return "0" + strconv.FormatUint(uint64(m), 8)
	})
	return s
}

// parseMode reads the permissions of a socket. The error says what is wanted.
func parseMode(text string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 9)
	if err != nil || n == 0 || len(text) > 4 {
		return 0, errors.New(wantMode)
	}
	return fs.FileMode(n), nil
}

// addresses checks the addresses of all listeners.
func (v *validator) addresses() {
	if len(v.c.Listen) == 0 && v.noErrorAt("listen") {
		v.fail("listen", "must be at least one address, or remove the key")
	}
	var taken []listenerAddress
	for i, l := range v.c.Listen {
		v.address(item("listen", i), l, &taken)
		v.trustedProxies(child(item("listen", i), "trusted_proxies"), &l)
	}
	admin := v.c.Admin.Listen()
	v.address("admin", admin, &taken)
	v.admin()
	if v.c.Metrics.Address != "" {
		v.address("metrics", Listen{Address: v.c.Metrics.Address}, &taken)
	}
}

// address checks one address, and that no other listener has it or a part of it; taken are the addresses so far.
func (v *validator) address(section string, l Listen, taken *[]listenerAddress) {
	path, mode := child(section, "address"), child(section, "socket_mode")
	if !v.noErrorAt(path) {
		return
	}
	if want := v.wantAddress(path, &l); want != "" {
		v.fail(path, want)
		return
	}
	if !l.Socket() && l.SocketMode != 0 && v.noErrorAt(mode) {
		v.fail(mode, "remove it: only an address unix:PATH has a mode")
	}
	v.free(path, l, taken)
}

// trustedProxies refuses trusted_proxies of a socket, whose clients have no address.
func (v *validator) trustedProxies(path string, l *Listen) {
	if len(l.TrustedProxies) > 0 && l.Socket() && !l.ProxyProtocol && v.noErrorAt(path) {
		v.addError(path, "", "remove it: a client of a unix socket has no address, unless proxy_protocol sends one")
	}
}

// wantAddress returns the error for an address that nobody can listen on, "" for a valid one.
func (v *validator) wantAddress(path string, l *Listen) string {
	switch {
	case !v.src.given(path) && l.Address == "":
		return missing("an address: " + listenForms)
	case l.Socket() && !validSocket(l.Address):
		return "must be unix: and the path of a socket, of 1 to " + strconv.Itoa(maxSocketPath) + " bytes"
	case !l.Socket() && !validAddress(l.Address):
		return wantListen
	}
	return ""
}

// validSocket reports whether address has a path of a socket in the file system. A path that
// begins with @ is none: Go takes it for the abstract namespace (unix(7)).
func validSocket(address string) bool {
	path := strings.TrimPrefix(address, socketPrefix)
	return path != "" && path[0] != '@' && len(path) <= maxSocketPath && !strings.HasSuffix(path, "/") && !strings.ContainsFunc(path, unicode.IsControl)
}
