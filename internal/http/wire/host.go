package wire

import (
	"bytes"
	"errors"
)

// ErrHost means that a Host field or authority is not host[:port].
var ErrHost = errors.New("malformed Host")

// maxHost limits the length of a host with its port: 253 bytes of name (RFC 1035
// section 2.3.4), the dot after it, and a port.
const maxHost = 260

// AppendHost parses raw as host[:port] (RFC 9110 section 7.2) and appends its
// canonical form to dst: letters in lower case, no dot at the end, no default port
// of the scheme, any other port without leading zeros. It refuses userinfo, several
// hosts, and bytes that no host name or address may have. It allocates nothing when
// dst has room.
func AppendHost(dst, raw []byte, scheme string) ([]byte, error) {
	if len(raw) == 0 || len(raw) > maxHost {
		return dst, ErrHost
	}
	host, port, err := splitPort(raw)
	if err != nil {
		return dst, err
	}
	if host[0] != '[' {
		host = bytes.TrimSuffix(host, []byte("."))
	}
	if len(host) == 0 || !validHost(host) {
		return dst, ErrHost
	}
	for _, c := range host {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	if len(port) == 0 || isDefaultPort(port, scheme) {
		return dst, nil
	}
	return append(append(dst, ':'), port...), nil
}

// splitPort splits raw into host and port, without the port's leading zeros. An empty port
// counts as no port.
func splitPort(raw []byte) (host, port []byte, err error) {
	end := 0
	if raw[0] == '[' { // IP literal (RFC 3986 section 3.2.2)
		if end = bytes.IndexByte(raw, ']') + 1; end == 0 {
			return nil, nil, ErrHost
		}
	}
	rest := raw[end:]
	i := bytes.IndexByte(rest, ':')
	if end > 0 && (len(rest) > 0 && i != 0) {
		return nil, nil, ErrHost // something between the literal and its port
	}
	if i < 0 {
		return raw, nil, nil
	}
	if end+i == 0 {
		return nil, nil, ErrHost
	}
	port, err = validPort(rest[i+1:])
	return raw[:end+i], port, err
}

// validPort returns a port of 1 to 65535 without leading zeros. An empty port stays
// empty.
func validPort(port []byte) ([]byte, error) {
	if len(port) > 5 {
		return nil, ErrHost
	}
	n := 0
	for _, c := range port {
		if c < '0' || c > '9' {
			return nil, ErrHost
		}
		n = n*10 + int(c-'0')
	}
	if n > 65535 || len(port) > 0 && n == 0 {
		return nil, ErrHost
	}
	return bytes.TrimLeft(port, "0"), nil
}

func validHost(host []byte) bool {
	if host[0] == '[' {
		return validLiteral(host)
	}
	for i, c := range host {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '.' && i > 0 && i < len(host)-1 && host[i-1] != '.':
		default:
			return false
		}
	}
	return true
}

// validLiteral accepts an IPv6 address in brackets (RFC 3986 section 3.2.2). It
// refuses zones, which have no meaning outside the client's machine (RFC 6874
// section 1), and IPvFuture, which nobody uses.
func validLiteral(host []byte) bool {
	_, ok := parseIPv6(host[1 : len(host)-1])
	return ok
}

func isDefaultPort(port []byte, scheme string) bool {
	if scheme == "https" {
		return string(port) == "443"
	}
	return string(port) == "80"
}
