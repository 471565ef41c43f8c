package purgedialect

import (
	"fmt"
	"strings"

	"edgeproxy/internal/http/field"
)

// Request is a purge as it was received.
type Request struct {
	Method string
	Target string // path and query, or an absolute URL
	Fields field.List
	// HasContent says that there is something behind the head.
	HasContent bool
	// SameHost reports whether a host, with a port or without, is that of the request.
	SameHost func(host string) bool
}

// Order is what to purge of the host of the request.
type Order struct {
	// All is everything.
	All bool
	// URLs and Prefixes are paths with their queries, and beginnings of such.
	URLs, Prefixes []string
	// Tags are those that responses have had as tags, SoftTags those by which responses become stale.
	Tags, SoftTags []string
	// Soft makes stale what the order names.
	Soft bool
}

// Error says what of a request is not understood.
type Error struct {
	Part  string // a field, or what else it is of the request
	Value string
	Want  string // what is wrong with it, and what is wanted
}

// mostQuoted is how much of a value an Error quotes.
const mostQuoted = 200

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("%.100s: %.*q: %s", strings.ToValidUTF8(e.Part, "?"), mostQuoted, e.Value, e.Want)
}

// Methods that are understood.
const (
	methodPurge     = "PURGE"
	methodBan       = "BAN"
	methodPurgeKeys = "PURGEKEYS" // purges by tags, with varnish-modules
	methodPurgeTags = "PURGETAGS" // purges by tags, with FOSHttpCache for Symfony
)

// IsPurge reports whether a method asks for a purge, also one that is not understood: then the origin, which does not understand it
// either, could answer 200.
func IsPurge(method string) bool {
	return strings.Contains(method, methodPurge) || strings.Contains(method, methodBan)
}

// Parse returns what a request purges. The error is an *Error.
func Parse(r *Request) (Order, error) {
	switch {
	case r.Method != methodPurge && r.Method != methodBan && r.Method != methodPurgeKeys && r.Method != methodPurgeTags:
		return Order{}, &Error{"method", r.Method, "must be PURGE, BAN, PURGEKEYS or PURGETAGS"}
	case r.HasContent:
		return Order{}, &Error{"content", "", "must be none: what to purge is in the head"}
	}
	g, err := r.given()
	if err != nil {
		return Order{}, err
	}
	if err := r.checkBounds(g); err != nil {
		return Order{}, err
	}
	o, err := r.order(g)
	if err != nil {
		return Order{}, err
	}
	soft, err := g.softly()
	if err != nil {
		return Order{}, err
	}
	o.Soft = o.Soft || soft
	return o, nil
}

// order returns what the request purges, by the part that says so.
func (r *Request) order(g *given) (Order, error) {
	by, err := g.selector()
	switch {
	case err != nil:
		return Order{}, err
	case by == byTags:
		return r.byTags(g)
	case r.Method == methodPurgeKeys || r.Method == methodPurgeTags:
		return Order{}, &Error{"method", r.Method, "needs a field with tags beside it, such as xkey-purge"}
	case by == byClear:
		return Order{All: true}, nil
	case by == byExpression:
		return r.byExpression(g.expression)
	case by == byURL:
		return r.byURL(g)
	}
	return r.byTarget(g)
}

// byTags purges by the tags that fields name. What else the request says has to select everything. A PURGE of another target than /
// is for that URL as well: some programs send tags with / alone, and some with a path without a meaning.
func (r *Request) byTags(g *given) (Order, error) {
	if strings.HasSuffix(r.Target, ".*") {
		return Order{}, &Error{"target", r.Target, "needs / beside " + g.tagField + ", or no " + g.tagField}
	}
	if g.url.name != "" {
		if u, err := r.urls(g.url.name, g.url.value); err != nil || len(u) != 1 || !u[0].prefix || u[0].text != "/" {
			return Order{}, &Error{g.url.name, g.url.value, "needs .* beside " + g.tagField + ": a purge goes by tags or by URLs"}
		}
	}
	o := Order{All: g.everyTag, Tags: g.tags, SoftTags: g.softTags}
	if r.Method != methodPurge || r.Target == "/" {
		return o, nil
	}
	also, err := r.byTarget(g)
	o.URLs, o.Soft = also.URLs, len(o.Tags) == 0 && !o.All
	return o, err
}

// byURL purges by the pattern for URLs in a field.
func (r *Request) byURL(g *given) (Order, error) {
	u, err := r.urls(g.url.name, g.url.value)
	return orderOf(u), err
}

// byTarget purges by the target of the request: the URL that it is, or as a pattern.
func (r *Request) byTarget(g *given) (Order, error) {
	switch {
	case g.way == wayPattern, r.Method == methodBan, strings.HasSuffix(r.Target, ".*") && g.way == wayNone:
		u, err := r.urls("target", r.Target)
		return orderOf(u), err
	case g.way == wayExact:
		return Order{URLs: []string{r.Target}}, nil
	}
	path, _, _ := strings.Cut(r.Target, "?")
	if strings.Contains(r.Target, ".*") || strings.HasSuffix(r.Target, "*") || strings.ContainsAny(path, `^[]{}|\`) {
		return Order{}, &Error{"target", r.Target, "must be a path, or X-Purge-Method: exact for one with such signs in it, or a path and .* for what begins like it"}
	}
	u, err := r.plainURL(r.Target)
	return Order{URLs: []string{u}}, err
}

// plainURL returns the path of a target that may be an absolute URL of either scheme.
func (r *Request) plainURL(target string) (string, error) {
	for _, scheme := range schemes[len(schemes)-2:] {
		rest, found := strings.CutPrefix(target, scheme)
		if !found {
			continue
		}
		host, path := cutHost(rest)
		if !r.SameHost(host) {
			return "", &Error{"target", target, wantHost}
		}
		if path == "" {
			path = "/"
		}
		return path, nil
	}
	return target, nil
}

// orderOf purges what patterns have selected.
func orderOf(all []url) (o Order) {
	for _, u := range all {
		switch {
		case u.prefix && u.text == "/":
			o.All = true
		case u.prefix:
			o.Prefixes = append(o.Prefixes, u.text)
		default:
			o.URLs = append(o.URLs, u.text)
		}
	}
	return o
}
