package syslog

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Prefix begins a destination, where another log has a path.
const Prefix = "syslog:"

// Destination is a server, and how messages to it are labelled.
type Destination struct {
	// Network is udp, tcp, or unixgram for a socket in the file system. Address is HOST:PORT, or the path of that socket.
	Network, Address string
	// Facility and Severity are the numbers of RFC 5424 section 6.2.1.
	Facility, Severity int
	// Tag is APP-NAME.
	Tag string
	// WithoutHostname leaves HOSTNAME out.
	WithoutHostname bool
}

// What a destination has unless it says otherwise: the values of nginx, but for the tag.
const (
	defaultFacility = "local7"
	defaultSeverity = "info"
	defaultTag      = "edgeproxy"
	defaultPort     = "514"
)

// facilities and severities are by their numbers. The names are those of nginx.
var (
	facilities = []string{
		"kern", "user", "mail", "daemon", "auth", "intern", "lpr", "news", "uucp", "clock", "authpriv", "ftp", "ntp", "audit", "alert", "cron",
		"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
	}
	severities = []string{"emerg", "alert", "crit", "error", "warn", "notice", "info", "debug"}
)

// wantServer says how a server is written.
const wantServer = "must be server=HOST, HOST:PORT, tcp://HOST:PORT or unix:/PATH"

// Limits of a destination.
const (
	maxTag        = 48  // longest APP-NAME (RFC 5424 section 6)
	maxSocketPath = 107 // with its zero byte the longest that fits into an address of the kernel (unix(7))
)

// Parse reads a destination in the spelling of nginx: syslog:server=ADDRESS[,facility=NAME][,severity=NAME][,tag=NAME][,nohostname].
// ADDRESS is HOST[:PORT] or udp://HOST[:PORT] for UDP, tcp://HOST[:PORT], or unix:/PATH. The error says what is wanted.
func Parse(text string) (Destination, error) {
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok || rest == "" {
		return Destination{}, errors.New("must be syslog:server=ADDRESS, such as syslog:server=10.0.0.5:514,tag=edge")
	}
	d := Destination{Tag: defaultTag, Facility: slices.Index(facilities, defaultFacility), Severity: slices.Index(severities, defaultSeverity)}
	given := map[string]bool{}
	for parameter := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(parameter, "=")
		if given[name] {
			return Destination{}, fmt.Errorf("%s must be listed once", name)
		}
		given[name] = true
		if err := d.set(name, value); err != nil {
			return Destination{}, err
		}
	}
	if !given["server"] {
		return Destination{}, errors.New(wantServer)
	}
	return d, nil
}

// set applies one parameter.
func (d *Destination) set(name, value string) error {
	switch name {
	case "server":
		return d.setServer(value)
	case "facility":
		return choose(&d.Facility, facilities, name, value)
	case "severity":
		return choose(&d.Severity, severities, name, value)
	case "tag":
		if value == "" || len(value) > maxTag || strings.ContainsFunc(value, func(r rune) bool { return !letterOrDigit(r) && !strings.ContainsRune("-_.", r) }) {
			return fmt.Errorf("tag %q: must be 1 to %d letters, digits, '-', '_' and '.'", value, maxTag)
		}
		d.Tag = value
		return nil
	case "nohostname":
		if value != "" {
			return errors.New("must be nohostname without a value")
		}
		d.WithoutHostname = true
		return nil
	}
	return fmt.Errorf("parameter %q: must be server, facility, severity, tag or nohostname", name)
}

// setServer reads the address of a server.
func (d *Destination) setServer(value string) error {
	if path, ok := strings.CutPrefix(value, "unix:"); ok {
		if !strings.HasPrefix(path, "/") || len(path) > maxSocketPath {
			return fmt.Errorf("server %q: must be unix: and the path of a socket, which begins with / and has at most %d bytes", value, maxSocketPath)
		}
		d.Network, d.Address = "unixgram", path
		return nil
	}
	network, address, ok := strings.Cut(value, "://")
	if !ok {
		network, address = "udp", value
	}
	host, port, ok := splitHost(address)
	if !ok || network != "udp" && network != "tcp" {
		return fmt.Errorf("server %q: %s", value, wantServer)
	}
	d.Network, d.Address = network, net.JoinHostPort(host, port)
	return nil
}

// splitHost splits HOST[:PORT]. An address of IPv6 is in brackets.
func splitHost(address string) (host, port string, ok bool) {
	host, port = address, defaultPort
	if i := strings.LastIndexByte(address, ':'); i > strings.LastIndexByte(address, ']') {
		host, port = address[:i], address[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", "", false
		}
	}
	if inside, bracket := strings.CutPrefix(host, "["); bracket {
		inside, closed := strings.CutSuffix(inside, "]")
		a, err := netip.ParseAddr(inside)
		return inside, port, closed && err == nil && a.Is6()
	}
	return host, port, host != "" && !strings.ContainsFunc(host, func(r rune) bool { return !letterOrDigit(r) && !strings.ContainsRune("-_.", r) })
}

// choose sets the number of a name.
func choose(number *int, names []string, parameter, name string) error {
	i := slices.Index(names, name)
	if i < 0 {
		return fmt.Errorf("%s %q: must be one of %s", parameter, name, strings.Join(names, ", "))
	}
	*number = i
	return nil
}

func letterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
