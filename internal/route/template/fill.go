package template

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/routing"
)

// URL is what the placeholders of a URL are filled with. Append keeps none of its bytes.
type URL struct {
	Scheme string // http or https
	Host   []byte // in canonical form: the port only if it is not the usual one of Scheme
	Target []byte // the keyed target, if the result may be shared between clients
}

// Client is the request of one client.
type Client interface {
	// ClientAddress returns the client's address, as far as trusted proxies tell it; the zero Addr where there is none.
	ClientAddress() netip.Addr
	// RequestID returns the id of the request, which is the same each time. It is valid until the request ends.
	RequestID() []byte
}

// Append appends t, filled for u and who. Bytes that no URL has are encoded (RFC 3986 section 2.1), and the target * of
// OPTIONS has the path /. Without a client, nil, its placeholders are empty.
func (t Template) Append(b []byte, u URL, who Client) []byte {
	for i := range t.parts {
		switch p := &t.parts[i]; p.place {
		case "":
			b = append(b, p.text...)
		case placeClient:
			b = appendAddress(b, who)
		case placeRequestID:
			if who != nil {
				b = append(b, who.RequestID()...)
			}
		default:
			b = u.append(b, p.place)
		}
	}
	return b
}

func appendAddress(b []byte, who Client) []byte {
	if who == nil {
		return b
	}
	if a := who.ClientAddress(); a.IsValid() {
		return a.AppendTo(b)
	}
	return b
}

// append appends what a place of OfURL is.
func (u URL) append(b []byte, place string) []byte {
	path, query, asked := bytes.Cut(u.Target, []byte("?"))
	if string(path) == "*" { // the target of OPTIONS
		path = []byte("/")
	}
	switch place {
	case placeScheme:
		return append(b, u.Scheme...)
	case placeHost:
		name, _ := routing.SplitPort(u.Scheme, u.Host)
		return append(b, name...)
	case placeHostPort:
		return append(b, u.Host...)
	case placePort:
		_, port := routing.SplitPort(u.Scheme, u.Host)
		return strconv.AppendInt(b, int64(port), 10)
	case placePath:
		return appendEncoded(b, path)
	case placeQuery:
		return appendEncoded(b, query)
	}
	if b = appendEncoded(b, path); asked { // placeURI
		b = appendEncoded(append(b, '?'), query)
	}
	return b
}

// appendEncoded appends a part of a target as a URL may have it (RFC 3986 section 2).
func appendEncoded(b, part []byte) []byte {
	for _, c := range part {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b = wire.AppendEscape(b, c)
		} else {
			b = append(b, c)
		}
	}
	return b
}
