package proxy

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"edgeproxy/internal/field"
	"edgeproxy/internal/wire"
)

// OwnAnswer is what a route answers itself, in place of an origin. It is immutable.
type OwnAnswer struct {
	// Status is final, and neither 206 nor 304.
	Status int
	// Fields are those of the head but Date, Via, Location and what frames the body. They are made by ResponseRules.
	Fields field.List
	// Location is where the client should go instead; the zero Location is no such field.
	Location Location
	// Body is sent as it is; a 204 has none.
	Body []byte
}

// ownAnswer is an OwnAnswer ready to be sent.
type ownAnswer struct {
	*OwnAnswer
	lines []byte
}

func newOwnAnswer(a *OwnAnswer) *ownAnswer {
	if a == nil {
		return nil
	}
	o := &ownAnswer{OwnAnswer: a}
	for _, f := range a.Fields {
		o.lines = append(append(append(append(o.lines, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	if len(a.Body) > 0 && !a.Fields.Has("Content-Type") {
		o.lines = append(o.lines, "Content-Type: text/plain; charset=utf-8\r\n"...)
	}
	return o
}

func (o *ownAnswer) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	b = append(b, "\r\n"...)
	if o.Location.parts != nil {
		b = append(b, "Location: "...)
		b = o.Location.append(b, x)
		b = append(b, "\r\n"...)
	}
	x.answer.Lines = append(b, o.lines...)
	return heading{status: o.Status, size: int64(len(o.Body))}
}

func (o *ownAnswer) send(x *exchange, _ cut) {
	x.bytes = int64(len(o.Body))
	x.answer.Say(o.Body)
}

func (*ownAnswer) leave(*exchange) {}

func (*ownAnswer) abandon() {}

// answerItself makes what the route of x says itself the answer.
func (x *exchange) answerItself() {
	x.from, x.status, x.result = x.route.answer, x.route.answer.Status, resultPass
}

// Location is a URL with places for parts of the request. The zero Location is none.
type Location struct{ parts []locationPart }

// locationPart is text, or a place for a part of the request.
type locationPart struct {
	text  string
	place string // "" is text
}

// Places of a Location, in braces.
const (
	placeScheme   = "scheme"   // http or https
	placeHost     = "host"     // without its port
	placeHostPort = "hostport" // with the port, if it is not the usual one
	placePath     = "path"     // as it was asked for
	placeQuery    = "query"    // without ?
	placeURI      = "uri"      // path and query
)

var locationPlaces = []string{placeScheme, placeHost, placeHostPort, placePath, placeQuery, placeURI}

// Errors of ParseLocation.
var (
	errLocationPlace = errors.New("want no other places than {scheme}, {host}, {hostport}, {path}, {query} and {uri}")
	errLocationBytes = errors.New("want a URL: visible characters of ASCII, and others encoded by %")
	errLocation      = errors.New("want /, or http://, https:// or {scheme}:// with a host or {host}, and behind that nothing, /, ?, {path} or {uri}: " +
		"else a client could choose where others are sent")
)

// ParseLocation reads a URL such as https://{host}{uri}. No request can make it lead to a host that the
// text does not name.
func ParseLocation(text string) (Location, error) {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`|", c) >= 0 {
			return Location{}, errLocationBytes
		}
	}
	var l Location
	for rest := text; rest != ""; {
		before, behind, open := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return Location{}, errLocationPlace
		}
		if before != "" {
			l.parts = append(l.parts, locationPart{text: before})
		}
		if !open {
			break
		}
		place, after, closed := strings.Cut(behind, "}")
		if !closed || !slices.Contains(locationPlaces, place) {
			return Location{}, errLocationPlace
		}
		l.parts = append(l.parts, locationPart{place: place})
		rest = after
	}
	if !leadsSomewhere(text) {
		return Location{}, errLocation
	}
	return l, nil
}

// leadsSomewhere reports whether text itself says which host it leads to.
func leadsSomewhere(text string) bool {
	if rest, ok := strings.CutPrefix(text, "/"); ok { // at the host that was asked; // would be another
		return rest == "" || rest[0] != '/' && rest[0] != '{'
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != schemePlain && scheme != schemeSecure && scheme != "{"+placeScheme+"}" {
		return false
	}
	authority := rest
	for _, end := range []string{"/", "?", "{" + placePath + "}", "{" + placeURI + "}"} {
		if i := strings.Index(authority, end); i >= 0 {
			authority = rest[:i]
		}
	}
	host := strings.NewReplacer("{"+placeHostPort+"}", "h", "{"+placeHost+"}", "h").Replace(authority)
	if strings.ContainsAny(host, "{}#") {
		return false
	}
	_, err := wire.AppendHost(nil, []byte(host), schemePlain)
	return err == nil
}

// append appends the URL for x. Bytes that no URL has are encoded.
func (l Location) append(b []byte, x *exchange) []byte {
	path, query, asked := bytes.Cut(x.target.Raw, []byte("?"))
	if string(path) == "*" { // of OPTIONS
		path = []byte("/")
	}
	for i := range l.parts {
		switch part := &l.parts[i]; part.place {
		case "":
			b = append(b, part.text...)
		case placeScheme:
			b = append(b, x.scheme...)
		case placeHost:
			name, _ := splitPort(x.scheme, x.host)
			b = append(b, name...)
		case placeHostPort:
			b = append(b, x.host...)
		case placePath:
			b = appendEncoded(b, path)
		case placeQuery:
			b = appendEncoded(b, query)
		case placeURI:
			b = appendEncoded(b, path)
			if asked {
				b = appendEncoded(append(b, '?'), query)
			}
		}
	}
	return b
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
