package purgedialect

import (
	"strings"

	"edgeproxy/internal/http/field"
)

// This file reads ban expressions, as Varnish has them: conditions with && between them.

const wantExpression = `must be req.url or obj.http.x-url, req.http.host, or obj.http and a field with tags, then == or ~ and what to compare with; && between two`

// condition is one comparison of an expression.
type condition struct {
	name    string // in lower case
	matches bool   // compared by ~, else by ==
	value   string
}

// byExpression purges by a ban expression.
func (r *Request) byExpression(e named) (o Order, err error) {
	urls, tags := 0, 0
	for part := range strings.SplitSeq(e.value, "&&") {
		c, ok := readCondition(part)
		if !ok {
			return Order{}, &Error{e.name, e.value, wantExpression}
		}
		switch {
		case isHostName(c.name):
			err = r.checkHost(e.name, c)
		case isURLName(c.name):
			urls++
			o, err = r.urlCondition(e.name, c)
		case isTagName(c.name) && c.matches:
			tags++
			o.Tags, o.All, err = tagsOf(e.name, c.value)
		default:
			err = &Error{e.name, e.value, wantExpression}
		}
		if err != nil {
			return Order{}, err
		}
	}
	switch {
	case urls+tags > 1:
		return Order{}, &Error{e.name, e.value, "must be one condition on URLs or on tags"}
	case urls+tags == 0:
		o.All = true
	}
	return o, nil
}

// readCondition reads NAME == VALUE or NAME ~ VALUE. A value may be in double quotes.
func readCondition(text string) (c condition, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), " ")
	operator, value, more := strings.Cut(strings.TrimSpace(rest), " ")
	value = strings.TrimSpace(value)
	if !ok || !more || operator != "==" && operator != "~" || value == "" {
		return c, false
	}
	if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return condition{strings.ToLower(name), operator == "~", value}, !strings.ContainsAny(value, "\" ")
}

func isHostName(name string) bool {
	return name == "req.http.host" || name == "obj.http.x-host" || name == "obj.http.host"
}

func isURLName(name string) bool {
	return name == "req.url" || name == "obj.http.x-url" || name == "obj.http.url"
}

// isTagName reports whether a name is that of a response field with tags.
func isTagName(name string) bool {
	name, ok := strings.CutPrefix(name, "obj.http.")
	if !ok {
		return false
	}
	return readings[field.Canonical(name)].hasTags()
}

// checkHost refuses a condition on another host than that of the request.
func (r *Request) checkHost(part string, c condition) error {
	switch {
	case c.matches:
		return r.checkHosts(part, c.value)
	case !r.SameHost(c.value):
		return &Error{part, c.value, wantHost}
	}
	return nil
}

func (r *Request) urlCondition(part string, c condition) (Order, error) {
	if c.matches {
		u, err := r.urls(part, c.value)
		return orderOf(u), err
	}
	if c.value[0] != '/' {
		return Order{}, &Error{part, c.value, wantURL}
	}
	return Order{URLs: []string{c.value}}, nil
}
