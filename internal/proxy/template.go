package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/internal/routing"
)

// This file reads and fills text with places for what is known of a request, such as {host}. Redirects, and the
// fields that rules set, are made of it. The words are those of the access log where it has them.

// Places of a template, in braces.
const (
	placeScheme   = "scheme"   // http or https
	placeHost     = "host"     // without its port
	placeHostPort = "hostport" // with the port, if it is not the usual one
	placePort     = "port"     // also if it is the usual one
	placePath     = "path"     // of the target, not decoded
	placeQuery    = "query"    // without ?
	placeURI      = "uri"      // path and query

	placeClient    = "client"     // the client's address, as far as trusted proxies tell it; empty where there is none
	placeRequestID = "request_id" // see requestID
)

// keyedPlaces are of the URL. They are the same for all requests that share a stored response, where the URL is the keyed
// one. allPlaces may be about the client, too.
var (
	keyedPlaces = []string{placeScheme, placeHost, placeHostPort, placePort, placePath, placeQuery, placeURI}
	allPlaces   = append(slices.Clone(keyedPlaces), placeClient, placeRequestID)
)

// errOfClient refuses a place in what is stored.
var errOfClient = errors.New("no {" + placeClient + "} and no {" + placeRequestID + "} here: these rules apply before a response is stored, so all clients would get the value of one")

// template is text with places. The zero template is empty text.
type template struct{ parts []templatePart }

// templatePart is text, or a place.
type templatePart struct {
	text  string
	place string // "" is text
}

// parseTemplate reads a text in which {name} stands for one of places, and {{ and }} for braces. The error says what is
// wanted, behind "want".
func parseTemplate(text string, places []string) (template, error) {
	var t template
	var plain []byte
	flush := func() {
		if len(plain) > 0 {
			t.parts = append(t.parts, templatePart{text: string(plain)})
			plain = nil
		}
	}
	for rest := text; rest != ""; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			plain = append(plain, rest...)
			break
		}
		plain = append(plain, rest[:at]...)
		brace := rest[at]
		if rest = rest[at+1:]; rest != "" && rest[0] == brace {
			plain, rest = append(plain, brace), rest[1:]
			continue
		}
		name, behind, closed := strings.Cut(rest, "}")
		switch {
		case brace == '}' || !closed:
			return template{}, fmt.Errorf("{name} for a placeholder, and {{ or }} for a literal brace: there is a single %q", string(brace))
		case slices.Contains(places, name):
		case slices.Contains(allPlaces, name):
			return template{}, errOfClient
		default:
			return template{}, fmt.Errorf("%s in braces, and {{ or }} for a literal brace: {%s} is not a placeholder", strings.Join(places, ", "), name)
		}
		flush()
		t.parts, rest = append(t.parts, templatePart{place: name}), behind
	}
	flush()
	return t, nil
}

// has reports whether a place is in t.
func (t template) has(place string) bool {
	return slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.place == place })
}

// open reports whether t has any place: else it is text.
func (t template) open() bool {
	return slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.place != "" })
}

// ofClient reports whether what t says may differ between requests for one URL.
func (t template) ofClient() bool { return t.has(placeClient) || t.has(placeRequestID) }

// text returns the text of a template that is not open.
func (t template) text() string {
	if len(t.parts) == 0 {
		return ""
	}
	return t.parts[0].text
}

// subject is what a template is filled with.
type subject struct {
	scheme string
	host   []byte    // in canonical form
	target []byte    // as it is keyed where what is made of it may be shared
	x      *exchange // the request itself; nil where no place is of the client
}

// append appends what t says of s. Bytes that no URL has are encoded.
func (t template) append(b []byte, s subject) []byte {
	for i := range t.parts {
		if part := &t.parts[i]; part.place == "" {
			b = append(b, part.text...)
		} else {
			b = s.append(b, part.place)
		}
	}
	return b
}

func (s subject) append(b []byte, place string) []byte {
	path, query, asked := bytes.Cut(s.target, []byte("?"))
	if string(path) == "*" { // of OPTIONS
		path = []byte("/")
	}
	switch place {
	case placeScheme:
		return append(b, s.scheme...)
	case placeHost:
		name, _ := routing.SplitPort(s.scheme, s.host)
		return append(b, name...)
	case placeHostPort:
		return append(b, s.host...)
	case placePort:
		_, port := routing.SplitPort(s.scheme, s.host)
		return strconv.AppendInt(b, int64(port), 10)
	case placePath:
		return appendEncoded(b, path)
	case placeQuery:
		return appendEncoded(b, query)
	case placeURI:
		if b = appendEncoded(b, path); asked {
			b = appendEncoded(append(b, '?'), query)
		}
		return b
	case placeClient:
		if a := s.x.clientAddress(); a.IsValid() {
			return a.AppendTo(b)
		}
		return b
	}
	return append(b, s.x.requestID()...) // placeRequestID
}

// appendEncoded appends a part of a target as a URL may have it (RFC 3986 section 2).
func appendEncoded(b, part []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range part {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b = append(b, '%', digits[c>>4], digits[c&0xf])
		} else {
			b = append(b, c)
		}
	}
	return b
}
