package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Placeholders, in braces.
const (
	placeScheme   = "scheme"   // http or https
	placeHost     = "host"     // without its port
	placeHostPort = "hostport" // with the port, if it is not the usual one
	placePort     = "port"     // also if it is the usual one
	placePath     = "path"     // path of the target, not decoded
	placeQuery    = "query"    // without ?
	placeURI      = "uri"      // path and query

	placeClient    = "client"     // see Client
	placeRequestID = "request_id" // see Client
)

// Placeholders are the placeholders that a text may have.
type Placeholders uint8

const (
	// OfURL are those of the URL. They are the same for all requests that share a stored response, where the URL is the
	// keyed one.
	OfURL Placeholders = iota
	// All are those of OfURL, {client} and {request_id}.
	All
)

// ofURL and ofAll are the names of OfURL and All.
var (
	ofURL = []string{placeScheme, placeHost, placeHostPort, placePort, placePath, placeQuery, placeURI}
	ofAll = append(slices.Clone(ofURL), placeClient, placeRequestID)
)

func (p Placeholders) names() []string {
	if p == All {
		return ofAll
	}
	return ofURL
}

// errOfClient refuses a placeholder in what is stored.
var errOfClient = errors.New("without {" + placeClient + "} and {" + placeRequestID + "} here: these rules apply before a response is stored, so all clients would get the value of one")

// Template is text with placeholders. The zero Template is empty text. It is immutable.
type Template struct{ parts []part }

// part is text, or a placeholder.
type part struct {
	text  string
	place string // "" is text
}

// Parse reads a text in which {name} stands for one of allowed, and {{ and }} for braces. The error is the
// text that follows the words "must be".
func Parse(text string, allowed Placeholders) (Template, error) {
	var t Template
	var plain []byte
	flush := func() {
		if len(plain) > 0 {
			t.parts = append(t.parts, part{text: string(plain)})
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
			return Template{}, fmt.Errorf("{name} for a placeholder, and {{ or }} for a literal brace: there is a single %q", string(brace))
		case slices.Contains(allowed.names(), name):
		case slices.Contains(ofAll, name):
			return Template{}, errOfClient
		default:
			return Template{}, fmt.Errorf("%s in braces, and {{ or }} for a literal brace: {%s} is not a placeholder", strings.Join(allowed.names(), ", "), name)
		}
		flush()
		t.parts, rest = append(t.parts, part{place: name}), behind
	}
	flush()
	return t, nil
}

func (t Template) has(place string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.place == place })
}

// HasPlaceholders reports whether t has any placeholder: else it is Text.
func (t Template) HasPlaceholders() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.place != "" })
}

// OfClient reports whether what t says may differ between requests for one URL.
func (t Template) OfClient() bool { return t.has(placeClient) || t.HasRequestID() }

// HasRequestID reports whether t has the id of the request.
func (t Template) HasRequestID() bool { return t.has(placeRequestID) }

// Text returns the text of a template without placeholders.
func (t Template) Text() string {
	if len(t.parts) == 0 {
		return ""
	}
	return t.parts[0].text
}
