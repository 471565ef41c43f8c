package proxy

import (
	"errors"
	"strings"

	"edgeproxy/internal/wire"
)

// OwnAnswer is what a route answers itself, in place of an origin. It is immutable.
type OwnAnswer struct {
	// Status is final, and neither 206 nor 304.
	Status int
	// Fields are those of the head but Date, Via, Location and what frames the body. They are made by AnswerRules, and go
	// before those of Route.Own.
	Fields FieldRules
	// Location is where the client should go instead; the zero Location is no such field.
	Location Location
	// Body is sent as it is; a 204 has none.
	Body []byte
}

// ownAnswer is an OwnAnswer ready to be sent.
type ownAnswer struct {
	*OwnAnswer
	fields ownFields
}

func newOwnAnswer(a *OwnAnswer, own *FieldRules) *ownAnswer {
	if a == nil {
		return nil
	}
	o := &ownAnswer{OwnAnswer: a}
	o.fields.add(own, func(name string) bool { return !a.Fields.Drops(name) })
	o.fields.add(&a.Fields, func(string) bool { return true })
	if o.fields.ofClient() && !o.fields.lifetime { // caches in front of us may keep it, for others
		o.fields.lines = append(o.fields.lines, "Cache-Control: private\r\n"...)
	}
	if len(a.Body) > 0 && !a.Fields.Drops("Content-Type") {
		o.fields.lines = append(o.fields.lines, "Content-Type: text/plain; charset=utf-8\r\n"...)
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
		b = o.Location.append(b, x.subject())
		b = append(b, "\r\n"...)
	}
	x.answer.Lines = o.fields.append(b, x)
	return heading{status: o.Status, size: int64(len(o.Body))}
}

func (o *ownAnswer) send(x *exchange, _ selection) {
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
type Location struct{ template }

// Errors of ParseLocation.
var (
	errLocationPlace = errors.New("want no other placeholders than {scheme}, {host}, {hostport}, {port}, {path}, {query} and {uri}")
	errLocationBytes = errors.New("want a URL of visible ASCII characters, others percent-encoded")
	errLocation      = errors.New("want a path that begins with /, or http://, https:// or {scheme}:// with a host or {host}, followed by nothing, /, ?, {path} or {uri}: " +
		"otherwise a client could choose the host of the redirect")
)

// ParseLocation reads a URL such as https://{host}{uri}. No request can make it lead to a host that the
// text does not name.
func ParseLocation(text string) (Location, error) {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`|", c) >= 0 {
			return Location{}, errLocationBytes
		}
	}
	if strings.Contains(text, "{{") || strings.Contains(text, "}}") { // no URL has a brace
		return Location{}, errLocationPlace
	}
	t, err := parseTemplate(text, keyedPlaces)
	if err != nil {
		return Location{}, errLocationPlace
	}
	if !leadsSomewhere(text) {
		return Location{}, errLocation
	}
	return Location{t}, nil
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
