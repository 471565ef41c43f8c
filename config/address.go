package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"edgeproxy/internal/http/wire"
)

const (
	urlForm     = "http[s]://HOST[:PORT]"
	serverForms = urlForm + ", srv+http[s]://NAME, or unix:/PATH"
	wantURL     = "must be " + urlForm
	wantService = "must be srv+http[s]://NAME"
	wantServer  = "must be " + serverForms
	wantHeader  = "must be client, server or HOST[:PORT]"
)

// localhost is the Host field for a server on a socket, as in nginx.
const localhost = "localhost"

// hasPath reports whether rest, the part of a URL behind the scheme, has a path other than "/",
// and neither query nor fragment.
func hasPath(rest string) bool {
	_, path, _ := strings.Cut(rest, "/")
	return path != "" && !strings.ContainsAny(rest, "?#")
}

// parseServer reads the URL of a server, or unix: and the path of its socket. The error says what is wanted.
func parseServer(text string) (Server, error) {
	if strings.HasPrefix(text, socketPrefix) {
		return parseSocket(text)
	}
	scheme, rest, _ := strings.Cut(text, "://")
	if web, service := cutPrefixFold(scheme, "srv+"); service {
		return parseService(web, rest)
	}
	return parseURL(scheme, rest)
}

// parseURL reads the URL of a server, whose scheme and rest stood before and behind ://.
func parseURL(scheme, rest string) (Server, error) {
	if strings.HasPrefix(rest, socketPrefix+"/") {
		return Server{}, errors.New("must be unix:/PATH, without http:// before it and without TLS")
	}
	secure := strings.EqualFold(scheme, "https")
	switch {
	case !secure && !strings.EqualFold(scheme, "http"):
		return Server{}, errors.New(wantServer)
	case strings.Contains(rest, "@"):
		return Server{}, errors.New(wantURL + ", without user or password")
	case hasPath(rest):
		return Server{}, errors.New(wantURL + ", without a path: add one with rewrite: {add_prefix: /PATH} in a route")
	case strings.ContainsAny(rest, "/?#"):
		return Server{}, errors.New(wantURL + ", without path, query or fragment")
	}
	host, port, ok := wire.ParseHost(rest)
	if !ok {
		return Server{}, errors.New(wantServer)
	}
	defaultPort := 80
	if secure {
		defaultPort = 443
	}
	s := Server{TLS: secure, Weight: 1, Host: host, Address: host + ":" + strconv.Itoa(cmp.Or(port, defaultPort))}
	if port != 0 && port != defaultPort {
		s.Host = s.Address
	}
	return s, nil
}

// cutPrefixFold is strings.CutPrefix for a prefix in either case.
func cutPrefixFold(text, prefix string) (after string, found bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// parseService reads the name of SRV records, which stands behind srv+http:// or srv+https://.
func parseService(scheme, rest string) (Server, error) {
	secure := strings.EqualFold(scheme, "https")
	host, port, ok := wire.ParseHost(rest)
	switch {
	case !secure && !strings.EqualFold(scheme, "http"):
		return Server{}, errors.New(wantServer)
	case strings.ContainsAny(rest, "/?#@"):
		return Server{}, errors.New(wantService + ", without user, path or query")
	case ok && port != 0:
		return Server{}, errors.New(wantService + ", without a port: each SRV record has one; or " + urlForm)
	case !ok:
		return Server{}, errors.New(wantService + ", such as srv+http://_http._tcp.app.internal")
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return Server{}, errors.New(wantService + ": an address has no SRV records")
	}
	s := Server{SRV: true, TLS: secure, Weight: 1, Address: host, Host: host}
	for strings.HasPrefix(s.Host, "_") {
		_, s.Host, _ = strings.Cut(s.Host, ".")
	}
	if s.Host == "" {
		return Server{}, errors.New(wantService + ", with a domain behind the service, such as srv+http://_http._tcp.app.internal")
	}
	return s, nil
}

// parseSocket reads the address of a server on a socket in the file system.
func parseSocket(address string) (Server, error) {
	if !validSocket(address) || address[len(socketPrefix)] != '/' {
		return Server{}, fmt.Errorf("must be unix: and the path of a socket in the file system, which begins with / and has at most %d bytes", maxSocketPath)
	}
	return Server{Weight: 1, Address: address, Host: localhost}, nil
}

// reachable reports whether u has no port, or one from 1 to 65535.
func reachable(u *url.URL) bool {
	port, ok := wire.ParsePort(u.Port())
	return u.Port() == "" || ok && port > 0
}

// validAddress reports whether address is one to listen on: HOST:PORT with an
// IP address, a name or nothing, and a port of 0 to 65535.
func validAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if _, ok := wire.ParsePort(port); !ok {
		return false
	}
	_, err = netip.ParseAddr(host)
	return host == "" || err == nil || wire.ValidName(strings.ToLower(host))
}

// loopback reports whether only this machine can reach the valid address.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
