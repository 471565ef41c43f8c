package routing

import (
	"bytes"
	"cmp"
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"edgeproxy/internal/http/wire"
)

// Host is one pattern of host names.
type Host struct {
	// Name is in lower case, IPv6 in brackets; "" is any host.
	Name string
	// Subdomains wants one or more labels before Name.
	Subdomains bool
	// Port is the port wanted, 0 any.
	Port int
}

// WantHost says what the text of a Host must be.
const WantHost = "must be *, HOST or *.DOMAIN, with :PORT for a single port"

// ParseHost reads the text of a Host: *, HOST or *.DOMAIN, with :PORT for a single port. The error says what is wanted.
func ParseHost(text string) (Host, error) {
	if text == "*" {
		return Host{}, nil
	}
	if port, every := strings.CutPrefix(text, "*:"); every {
		n, ok := wire.ParsePort(port)
		if !ok || n == 0 {
			return Host{}, errors.New(WantHost)
		}
		return Host{Port: n}, nil
	}
	host, subdomains := strings.CutPrefix(text, "*.")
	host, port, ok := wire.ParseHost(host)
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); !ok || subdomains && err == nil {
		return Host{}, errors.New(WantHost)
	}
	return Host{Name: host, Subdomains: subdomains, Port: port}, nil
}

// String returns the text of h.
func (h Host) String() string {
	text := cmp.Or(h.Name, "*")
	if h.Subdomains {
		text = "*." + text
	}
	if h.Port != 0 {
		text += ":" + strconv.Itoa(h.Port)
	}
	return text
}

func (m *Match) takesHost(scheme string, host []byte) bool {
	name, port := SplitPort(scheme, host)
	for i := range m.Hosts {
		if m.Hosts[i].Takes(name, port) {
			return true
		}
	}
	return false
}

// Takes reports whether h is for this name at this port.
func (h *Host) Takes(name []byte, port int) bool {
	switch {
	case h.Port != 0 && h.Port != port:
		return false
	case h.Name == "":
		return true
	case !h.Subdomains:
		return string(name) == h.Name
	}
	dot := len(name) - len(h.Name) - 1
	return dot > 0 && name[dot] == '.' && string(name[dot+1:]) == h.Name
}

// SplitPort takes a canonical host apart. Without a port it has that of scheme.
func SplitPort(scheme string, host []byte) (name []byte, port int) {
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || bytes.IndexByte(host[i:], ']') >= 0 {
		return host, defaultPort(scheme)
	}
	for _, c := range host[i+1:] {
		port = port*10 + int(c-'0')
	}
	return host[:i], port
}

// defaultPort is the port of a host without one.
func defaultPort(scheme string) int {
	if scheme == "https" {
		return 443
	}
	return 80
}
